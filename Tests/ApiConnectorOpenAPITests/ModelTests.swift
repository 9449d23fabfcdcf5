// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorOpenAPI
import Testing

/// Tests of the types in models: their JSON and their parts of a form.
struct ModelTests {
    private func read<Value: Decodable>(_ json: String, as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(json.utf8))
    }

    private func written(_ value: some Encodable) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
    }

    private struct Owner: ApiModel, Equatable {
        var name: Nullable<String>
        var nickname: Nullable<String>?
        var parent: Indirect<Owner>?
    }

    @Test func aMissingMemberNullAndAValueDiffer() throws {
        let values = try read(
            #"[{"name":null},{"name":"a","nickname":null},{"name":"a","nickname":"b"}]"#,
            as: [Owner].self
        )
        #expect(
            values == [
                Owner(name: .null), Owner(name: .value("a"), nickname: .null),
                Owner(name: .value("a"), nickname: .value("b")),
            ]
        )
        #expect(
            try written(values) == [
                ["name": nil], ["name": "a", "nickname": nil], ["name": "a", "nickname": "b"],
            ]
        )
        #expect(throws: DecodingError.self) { try read("{}", as: Owner.self) }
        #expect(throws: DecodingError.self) { try read(#"{"name":"a","nickname":1}"#, as: Owner.self) }
        #expect(Nullable("a").value == "a")
        #expect(Nullable<String>(nil) == .null)
    }

    @Test func aModelCanContainItself() throws {
        let json: JSONValue = ["name": "a", "parent": ["name": "b", "parent": ["name": nil]]]
        let owner = try json.decoded(as: Owner.self)
        #expect(owner.parent?.name == .value("b"))
        #expect(owner.parent?.value.parent?.name == .null)
        #expect(try written(owner) == json)
    }

    private struct Size: OpenEnum {
        let rawValue: Int64

        static let small = Self(1)
    }

    @Test func anUnknownValueIsKept() throws {
        #expect(try read("[1,7]", as: [Size].self) == [.small, Size(7)])
        #expect(try written([Size.small, Size(7)]) == [1, 7])
    }

    /// The answers of a decoder to questions about its value.
    private struct Members: Decodable {
        let tag: String?
        let hasBoth: Bool
        let others: [String: Int]?

        init(from decoder: any Decoder) throws {
            tag = decoder.memberText("tag")
            hasBoth = decoder.hasMembers("a", "b")
            others = try? decoder.additionalMembers(besides: ["tag", "a"])
        }
    }

    @Test func theTextOfAMemberIsAsJSONWritesIt() throws {
        #expect(try read(#"{"tag":"x"}"#, as: Members.self).tag == "x")
        #expect(try read(#"{"tag":7}"#, as: Members.self).tag == "7")
        #expect(try read(#"{"tag":true}"#, as: Members.self).tag == "true")
        #expect(try read(#"{"tag":false}"#, as: Members.self).tag == "false")
        #expect(
            try read(#"[{"tag":null},{"tag":[]},{},[],"tag",null]"#, as: [Members].self).map(\.tag)
                == Array(repeating: nil, count: 6)
        )
    }

    @Test func anObjectHasItsMembersEvenIfTheyAreNull() throws {
        let values = try read(#"[{"a":1,"b":null},{"a":1},[1,2],"ab"]"#, as: [Members].self)
        #expect(values.map(\.hasBoth) == [true, false, false, false])
    }

    @Test func additionalMembersAreThoseWithoutAProperty() throws {
        #expect(try read(#"{"tag":"x","a":"y","c":1,"d":2}"#, as: Members.self).others == ["c": 1, "d": 2])
        #expect(try read(#"{"tag":"x","c":"text"}"#, as: Members.self).others == nil)
    }

    private struct Open: Encodable {
        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: CodingKeys.self)
            try object.encode(1, forKey: .known)
            try encoder.encode(additionalMembers: ["a": 2, "b": 3])
        }

        enum CodingKeys: CodingKey { case known }
    }

    @Test func additionalMembersAreWrittenBesideTheOthers() throws {
        #expect(try written(Open()) == ["known": 1, "a": 2, "b": 3])
    }

    // MARK: - Forms

    private func texts(_ form: FormParts) async throws -> [String] {
        var texts: [String] = []
        for part in form.parts {
            let text = String(decoding: try await part.body.collect(upTo: 1_000), as: UTF8.self)
            texts.append("\(part.name) \(part.mediaType?.description ?? "-") \(text)")
        }
        return texts
    }

    @Test func aFormHasOnePartPerElement() async throws {
        let none: String? = nil
        let file = FormFile(.data(Data("bytes".utf8)), fileName: "cat.png")
        var form = FormParts()
        form.add("file", file)
        form.add("files", [file, file], as: "image/gif")
        form.add(text: "text", "a b")
        form.add(text: "texts", [1, 2])
        form.add(text: "typed", "<a/>", as: "application/xml")
        form.add(json: "json", ["a": 1])
        form.add(json: "patch", [1], as: "application/merge-patch+json")
        form.add(jsonElements: "lists", [[1], [2, 3]])
        form.add(text: "none", none)
        form.add(json: "none", none)
        #expect(
            try await texts(form) == [
                "file application/octet-stream bytes", "files image/gif bytes", "files image/gif bytes", "text - a b",
                "texts - 1",
                "texts - 2", "typed application/xml <a/>", #"json application/json {"a":1}"#,
                "patch application/merge-patch+json [1]", "lists application/json [1]", "lists application/json [2,3]",
            ]
        )
        #expect(form.parts.first?.fileName == "cat.png")
    }

    @Test func jsonHasNoFiles() {
        #expect(throws: DecodingError.self) { try read(#""text""#, as: FormFile.self) }
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(FormFile(.empty)) }
    }
}
