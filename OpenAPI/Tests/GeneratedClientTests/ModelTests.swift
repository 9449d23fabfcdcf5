// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorOpenAPI
import Testing

/// Tests of the JSON that the generated models decode and encode.
struct ModelTests {
    private func read<Value: Decodable>(_ json: String, as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(json.utf8))
    }

    private func written(_ value: some Encodable) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
    }

    @Test func anUnknownValueIsKept() throws {
        let kind = try read("\"parrot\"", as: Pet.Kind.self)
        #expect(kind.rawValue == "parrot")
        #expect(try written(kind) == "parrot")
        #expect(try read("\"cat\"", as: Pet.Kind.self) == .cat)
        #expect(try read("1", as: Status.self) == .busy)
    }

    @Test func aPetGoesThroughUnchanged() throws {
        let json: JSONValue = [
            "id": 9_007_199_254_740_993, "name": "Tom", "kind": "guinea pig", "born_at": "2026-02-28T10:00:00Z",
            "day": "2026-02-28", "owner": nil, "nickname": "T", "weight": 1.5, "price": "12.50",
            "photo": "aGk=",
            "parent": [
                "name": "P", "kind": "cat", "born_at": "2026-02-28T10:00:00Z", "owner": ["name": "O", "age": 3],
            ],
            "friends": [], "legs": 4, "extra": ["any": [1, nil]], "labels": ["a": "b"],
        ]
        let pet = try json.decoded(as: Pet.self)
        #expect(pet.id == 9_007_199_254_740_993)
        #expect(pet.owner.value == nil)
        #expect(pet.parent?.name == "P")
        #expect(pet.parent?.owner.value?.additionalProperties == ["age": 3])
        var expected = json.object ?? [:]
        expected["price"] = "12.5"
        #expect(try written(pet) == .object(expected))
    }

    @Test func aRequiredMemberMayNotBeMissing() {
        #expect(throws: DecodingError.self) { try read("{}", as: Problem.self) }
    }

    @Test func alternativesAreToldApartByTheirTag() throws {
        guard case .cat(let cat) = try read(#"{"species":"cat","lives":9}"#, as: Animal.self) else {
            Issue.record("not a cat")
            return
        }
        #expect(cat.lives == 9)
        guard case .dog = try read(#"{"species":"hound"}"#, as: Animal.self) else {
            Issue.record("not a dog")
            return
        }
        guard case .other(let value) = try read(#"{"species":"fish","fins":2}"#, as: Animal.self) else {
            Issue.record("not another animal")
            return
        }
        #expect(value["fins"] == 2)
        // If the tag is known but the body does not match, the result is an error, not another animal.
        #expect(throws: DecodingError.self) { try read(#"{"species":"cat"}"#, as: Animal.self) }
    }

    @Test func alternativesAreToldApartByTheirMembers() throws {
        let shapes = try read(#"[{"radius":1},{"side":2},"text",[{"side":3}],4]"#, as: [Shape].self)
        #expect(shapes.count == 5)
        guard case .circle = shapes[0], case .square = shapes[1], case .string("text") = shapes[2],
            case .shapeArray(let inner) = shapes[3], case .square(let square)? = inner.first, case .other(4) = shapes[4]
        else {
            Issue.record("\(shapes)")
            return
        }
        #expect(square.side == 3)
        #expect(try written(shapes) == [["radius": 1], ["side": 2], "text", [["side": 3]], 4])
    }

    @Test func aTypeCanContainItself() throws {
        #expect(try read("[[],[[]]]", as: Tree.self).value.count == 2)
    }
}

extension Pet {
    static let tom = Pet(name: "Tom", kind: .cat, bornAt: DateTime(Date(timeIntervalSince1970: 0)), owner: .null)
}
