// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorOpenAPI
import Testing

/// Tests of alternatives with overlapping tags, and of the heirs of a base schema.
struct AlternativeTests {
    private func read<Value: Decodable>(_ json: String, as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(json.utf8))
    }

    @Test func anotherMemberTellsAlternativesWithTheSameTagApart() throws {
        guard case .question(let question) = try read(#"{"type":"message","role":"user","text":"a"}"#, as: Item.self)
        else {
            Issue.record("not a question")
            return
        }
        #expect(question.text == "a")
        guard case .reply(let reply) = try read(#"{"type":"message","role":"assistant","score":2}"#, as: Item.self)
        else {
            Issue.record("not a reply")
            return
        }
        #expect(reply.score == 2)
        guard case .other = try read(#"{"type":"message","role":"tool"}"#, as: Item.self) else {
            Issue.record("a role that is not known is kept as JSON")
            return
        }
    }

    @Test func requiredMembersTellAlternativesWithTheSameTagApart() throws {
        guard case .longNote(let note) = try read(#"{"type":"note","body":"b"}"#, as: Item.self) else {
            Issue.record("not a long note")
            return
        }
        #expect(note.body == "b")
        guard case .note = try read(#"{"type":"note"}"#, as: Item.self) else {
            Issue.record("not a note")
            return
        }
    }

    @Test func aValueWhoseMemberWouldBeLostIsKeptAsJSON() throws {
        guard case .other(let value) = try read(#"{"type":"note","body":5}"#, as: Item.self) else {
            Issue.record("a note, without its body")
            return
        }
        #expect(value == ["type": "note", "body": 5])
    }

    @Test func aBaseWithADiscriminatorIsOneOfItsHeirs() throws {
        guard case .car(let car) = try read(#"{"kind":"Car","wheels":4,"doors":5}"#, as: Vehicle.self) else {
            Issue.record("not a car")
            return
        }
        #expect(car.wheels == 4)
        #expect(car.doors == 5)
        guard case .truck(let truck) = try read(#"{"kind":"lorry.big","load":1,"mass":[2]}"#, as: Vehicle.self) else {
            Issue.record("not a truck")
            return
        }
        // The member is required but not described, so it can be any JSON.
        #expect(truck.mass == [2])
        guard case .other(let value) = try read(#"{"kind":"Bike"}"#, as: Vehicle.self) else {
            Issue.record("not another vehicle")
            return
        }
        #expect(value["kind"] == "Bike")
    }

    @Test func anOptionalMemberThatIsNullIsReadAsNullAndWrittenAgain() throws {
        let text = #"{"name":"a","kind":"cat","born_at":"1970-01-01T00:00:00Z","owner":null,"nickname":null}"#
        let pet = try read(text, as: Pet.self)
        guard case .null? = pet.nickname else {
            Issue.record("\(String(describing: pet.nickname))")
            return
        }
        let written = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(pet))
        #expect(written["nickname"] == .null)
    }

    @Test(arguments: [
        #"{"link":"https://a.example/b?c"}"#, #"{"link":["a"]}"#, #"{"bytes":"AQID"}"#, #"{"bytes":3}"#,
        #"{"price":12.5}"#, #"{"price":true}"#, #"{"amount":5}"#, #"{"amount":"5.5"}"#, #"{"amount":"5 apples"}"#,
        #"{"state":"open"}"#, #"{"state":{"at":"2026-02-28"}}"#, #"{"anything":null}"#, #"{"anything":[1]}"#, "{}",
    ])
    func everyAlternativeIsWrittenAsItWasRead(_ text: String) throws {
        let value = try read(text, as: Evidence.self)
        let written = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
        #expect(written == (try read(text)))
    }

    @Test func alternativesOfTypesWithTheCodersFormatAreRead() throws {
        guard case .url(let link)? = try read(#"{"link":"https://a.example"}"#, as: Evidence.self).link else {
            Issue.record("not a URL")
            return
        }
        #expect(link.host() == "a.example")
        guard case .data(let bytes)? = try read(#"{"bytes":"AQID"}"#, as: Evidence.self).bytes else {
            Issue.record("not bytes")
            return
        }
        #expect(bytes == Data([1, 2, 3]))
        guard case .integer(5)? = try read(#"{"amount":5}"#, as: Evidence.self).amount else {
            Issue.record("a number is not the decimal number of a text")
            return
        }
    }

    @Test func namesOfTheGeneratedCodesOwnVariablesAreMembers() throws {
        let text = #"{"object":"1","decoder":"2","encoder":"3","form":"4","allCases":"5","more":"6"}"#
        let value = try read(text, as: Locals.self)
        #expect(value.object == "1")
        #expect(value.additionalProperties == ["more": "6"])
        let written = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
        #expect(written == (try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))))
    }
}
