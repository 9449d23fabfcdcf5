// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// Uses of `Encodable` that the compiler does not synthesize.
struct FormContainerTests {
    private func text(_ value: some Encodable & Sendable, as encoding: FormEncoding = .standard) throws -> String {
        try FormRow(value, "", as: encoding, "").body
    }

    class Animal: Encodable {
        let name = "Rex"
    }

    // Unchecked, because its superclass is no `Sendable` one: both hold constants only.
    final class Dog: Animal, @unchecked Sendable {
        let place: String

        init(_ place: String) { self.place = place }

        enum CodingKeys: String, CodingKey { case parent, isGood, legs }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(true, forKey: .isGood)
            switch place {
            case "beside": try super.encode(to: encoder)
            case "super": try super.encode(to: container.superEncoder())
            case "parent": try super.encode(to: container.superEncoder(forKey: .parent))
            default:
                var legs = container.nestedUnkeyedContainer(forKey: .legs)
                try super.encode(to: legs.superEncoder())
            }
        }
    }

    @Test(arguments: [
        ("beside", "isGood=true&name=Rex"),
        ("super", "isGood=true&super[name]=Rex"),
        ("parent", "isGood=true&parent[name]=Rex"),
        ("element", "isGood=true&legs[0][name]=Rex"),
    ])
    func encodesASuperclassWhereItsSubclassPutsIt(_ place: String, _ expected: String) throws {
        #expect(try text(Dog(place)).removingPercentEncoding == expected)
    }

    struct Custom: Encodable, Sendable {
        let write: @Sendable (any Encoder) throws -> Void
        func encode(to encoder: any Encoder) throws { try write(encoder) }
    }

    enum Key: String, CodingKey { case a, b, c }

    @Test func keepsNestedContainersWhereTheyWereOpened() throws {
        let value = Custom { encoder in
            var root = encoder.container(keyedBy: Key.self)
            var inner = root.nestedContainer(keyedBy: Key.self, forKey: .a)
            var list = root.nestedUnkeyedContainer(forKey: .b)
            try root.encode(1, forKey: .c)
            try list.encode("x")
            var element = list.nestedContainer(keyedBy: Key.self)
            try element.encode("y", forKey: .c)
            var deeper = list.nestedUnkeyedContainer()
            try deeper.encode("z")
            try list.encodeNil()
            #expect(list.count == 4)
            #expect(list.codingPath.map(\.stringValue) == ["b"])
            #expect(element.codingPath.map(\.stringValue) == ["b", "1"])
            try inner.encode(2, forKey: .b)
            try root.encodeNil(forKey: .c)
        }
        #expect(try text(value).removingPercentEncoding == "a[b]=2&b[0]=x&b[1][c]=y&b[2]=z")
    }

    @Test func addsToAnOpenContainer() throws {
        let value = Custom { encoder in
            var root = encoder.container(keyedBy: Key.self)
            for key in [Key.a, .b] {
                var inner = root.nestedContainer(keyedBy: Key.self, forKey: .a)
                try inner.encode(1, forKey: key)
            }
        }
        #expect(try text(value).removingPercentEncoding == "a[a]=1&a[b]=1")
    }

    @Test func keepsTheLastValueOfAKey() throws {
        let value = Custom { encoder in
            var root = encoder.container(keyedBy: Key.self)
            try root.encode(1, forKey: .a)
            try root.encode(2, forKey: .b)
            try root.encode(3, forKey: .a)
        }
        #expect(try text(value) == "a=3&b=2")
    }

    @Test func leavesOutValuesWhoseErrorsWereCaught() throws {
        let value = Custom { encoder in
            var root = encoder.container(keyedBy: Key.self)
            #expect(throws: (any Error).self) { try root.encode([1, .nan], forKey: .a) }
            try root.encode("instead", forKey: .a)
            var list = root.nestedUnkeyedContainer(forKey: .b)
            #expect(throws: (any Error).self) { try list.encode(Double.infinity) }
            try list.encode(1)
            #expect(list.count == 1)
        }
        #expect(try text(value) == "a=instead&b=1")
    }

    @Test func leavesOutValuesThatEncodeNothing() throws {
        #expect(try text(Field(Custom { _ in })).isEmpty)
        #expect(try text(Custom { _ in }).isEmpty)
    }

    static let broken = [
        Custom { encoder in
            _ = encoder.unkeyedContainer()
            _ = encoder.container(keyedBy: Key.self)
        },
        Custom { encoder in
            var root = encoder.container(keyedBy: Key.self)
            try root.encode(1, forKey: .a)
            var list = root.nestedUnkeyedContainer(forKey: .a)
            try? list.encode(1)
        },
        Custom { encoder in
            var single = encoder.singleValueContainer()
            try single.encode(1)
            try single.encode(2)
        },
        Custom { encoder in
            var container = encoder.container(keyedBy: Key.self)
            for _ in 0..<100_000 { container = container.nestedContainer(keyedBy: Key.self, forKey: .a) }
        },
    ]

    // By index: Swift Testing would encode an `Encodable` argument as JSON, and trap.
    @Test(arguments: broken.indices)
    func refusesValuesOnWhichJSONEncoderTraps(_ index: Int) {
        #expect(throws: ApiConnectorError.self) { try text(Field(Self.broken[index])) }
    }
}
