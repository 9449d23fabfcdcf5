// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

struct EnvelopeTests {
    private typealias Coded = DataEnvelope<CodedFailure>
    private typealias Resources = JSONAPIEnvelope<JSONAPIError>

    private static let item = Item(id: 1)

    // MARK: {"data": …} or {"error": …}

    @Test(arguments: [
        #"{"data":{"id":1}}"#, #"{"data":{"id":1},"error":null}"#, #"{"more":[],"data":{"id":1}}"#,
    ])
    func dataIsTheValue(_ text: String) async throws {
        let api = CannedConnection(Coded.self, answering: text)
        #expect(try await api.value(Item.self, at: Enveloped()) == Self.item)
        #expect(try await api.response(of: Item.self, at: Enveloped()).value == Self.item)
    }

    @Test(
        arguments: [200, 404, 500],
        [
            #"{"error":{"code":7,"message":"no such user"}}"#,
            #"{"data":{"id":1},"error":{"code":7,"message":"no such user"}}"#,
            #"{"data":null,"error":{"code":7,"message":"no such user"}}"#,
        ]
    )
    func anErrorIsAnErrorInEveryStatus(_ status: Int, _ text: String) async throws {
        let api = CannedConnection(Coded.self, answering: text, status: HTTPStatus(rawValue: status))
        let error = try await failure { () throws(ApiConnectorError) in try await api.value(Item.self, at: Enveloped())
        }
        #expect(error.kind == .backendFailure)
        #expect(error.stage == .envelope)
        #expect(error.response?.status.rawValue == status)
        #expect(error.failure(as: CodedFailure.self) == CodedFailure(code: 7, message: "no such user"))
        #expect(error.failure(as: ProblemDetails.self) == nil)
    }

    @Test func theTextOfAnErrorNamesTheRequestAndShowsTheBody() async throws {
        let text = #"{"error":{"code":7,"message":"no such user"}}"#
        let api = CannedConnection(Coded.self, answering: text)
        let error = try await failure { () throws(ApiConnectorError) in try await api.value(Item.self, at: Enveloped())
        }
        #expect(
            error.description == "GET http://api.example.com/it failed (backendFailure): "
                + "the backend answered 200 OK and reported its own error. The body: " + text
        )
    }

    @Test(arguments: [#"{"data":null}"#, "{}", #"{"error":null}"#, #"{"data":null,"error":null}"#])
    func missingDataIsNilForAnOptional(_ text: String) async throws {
        let api = CannedConnection(Coded.self, answering: text)
        #expect(try await api.value(Item?.self, at: Enveloped()) == nil)
    }

    @Test(arguments: [
        (#"{"error":null}"#, #"at the top level the key "data" is missing; found {"error":null}"#),
        (#"{"data":null}"#, #"at "data" an object was expected; found null"#),
        (#"{"data":{"id":"1"}}"#, #"at "data.id" a value of type Int was expected; found "1""#),
        (#"{"error":"down"}"#, #"at "error" an object was expected; found "down""#),
    ])
    func aBodyWithoutDataOrErrorDoesNotDecode(_ text: String, _ found: String) async throws {
        let api = CannedConnection(Coded.self, answering: text)
        let error = try await failure { () throws(ApiConnectorError) in try await api.value(Item.self, at: Enveloped())
        }
        #expect(error.kind == .decodingFailed)
        #expect(error.detail == "the body does not decode as Item: " + found)
    }

    @Test(arguments: ["<html>", #"{"data":{"id":1}}"#, #"{"error":null}"#, ""])
    func aStatusThatIsNotAcceptedWithoutAnErrorIsAStatus(_ text: String) async throws {
        let api = CannedConnection(Coded.self, answering: text, status: 500)
        let error = try await failure { () throws(ApiConnectorError) in try await api.value(Item.self, at: Enveloped())
        }
        #expect(error.kind == .unacceptableStatus)
        #expect(error.detail == "the server answered 500 Internal Server Error, and only 200 to 299 are accepted")
        #expect(error.backendFailure == nil)
    }

    // MARK: JSON:API

    @Test(arguments: [
        #"{"data":{"id":1}}"#, #"{"data":{"id":1},"errors":[]}"#, #"{"data":{"id":1},"errors":null}"#,
    ])
    func anEmptyErrorListIsNoError(_ text: String) async throws {
        let api = CannedConnection(Resources.self, answering: text)
        #expect(try await api.value(Item.self, at: Enveloped()) == Self.item)
    }

    @Test(arguments: [200, 422])
    func errorObjectsAreTheFailure(_ status: Int) async throws {
        let text = """
            {"errors":[{"status":"422","title":"Invalid","detail":"No such item","source":{"pointer":"/data/item"}}]}
            """
        let api = CannedConnection(Resources.self, answering: text, status: HTTPStatus(rawValue: status))
        let error = try await failure { () throws(ApiConnectorError) in try await api.value(Item.self, at: Enveloped())
        }
        let expected = JSONAPIError(
            status: "422",
            title: "Invalid",
            detail: "No such item",
            source: JSONAPIError.Source(pointer: "/data/item")
        )
        #expect(error.kind == .backendFailure)
        #expect(error.failure(as: [JSONAPIError].self) == [expected])
    }

    @Test func noErrorsWithAStatusThatIsNotAcceptedIsAStatus() async throws {
        let api = CannedConnection(Resources.self, answering: #"{"errors":[]}"#, status: 422)
        let error = try await failure { () throws(ApiConnectorError) in try await api.value(Item.self, at: Enveloped())
        }
        #expect(error.kind == .unacceptableStatus)
    }

    @Test func dataOfJSONAPIMayBeAbsentOrAList() async throws {
        let none = CannedConnection(Resources.self, answering: #"{"meta":{}}"#)
        #expect(try await none.value(Item?.self, at: Enveloped()) == nil)
        let list = CannedConnection(Resources.self, answering: #"{"data":[{"id":1},{"id":1}]}"#)
        #expect(try await list.value([Item].self, at: Enveloped()) == [Self.item, Self.item])
    }

    // MARK: None, and an own one

    @Test func withoutAnEnvelopeTheBodyIsTheValue() async throws {
        let api = CannedConnection(BareEnvelope<NoFailure>.self, answering: #"{"id":1}"#)
        #expect(try await api.value(Item.self, at: Enveloped()) == Self.item)
        let odd = CannedConnection(BareEnvelope<NoFailure>.self, answering: #"{"error":{"code":7}}"#, status: 400)
        let error = try await failure { () throws(ApiConnectorError) in try await odd.value(Item.self, at: Enveloped())
        }
        #expect(error.kind == .unacceptableStatus)
    }

    @Test func aBareFailureIsFoundInABodyThatIsNotAValue() async throws {
        let text = #"{"code":7,"message":"no such user"}"#
        for status: HTTPStatus in [200, 400] {
            let api = CannedConnection(BareEnvelope<CodedFailure>.self, answering: text, status: status)
            let error = try await failure { () throws(ApiConnectorError) in
                try await api.value(Item.self, at: Enveloped())
            }
            #expect(error.kind == .backendFailure)
            #expect(error.failure() == CodedFailure(code: 7, message: "no such user"))
        }
    }

    @Test func aCustomEnvelopeIsOpened() async throws {
        let good = CannedConnection(OkEnvelope.self, answering: #"{"ok":true,"payload":{"id":1}}"#)
        #expect(try await good.value(Item.self, at: Enveloped()) == Self.item)
        let bad = CannedConnection(OkEnvelope.self, answering: #"{"ok":false,"reason":"closed"}"#)
        let error = try await failure { () throws(ApiConnectorError) in try await bad.value(Item.self, at: Enveloped())
        }
        #expect(error.failure(as: String.self) == "closed")
    }

    // MARK: Calls without a value

    @Test func anErrorInA200FailsTheCallsWithoutAValueToo() async throws {
        let text = #"{"error":{"code":7,"message":"no"}}"#
        for type in ["application/json", "application/vnd.api+json", nil] {
            let api = CannedConnection(Coded.self, answering: text, type: type)
            let errors = [
                try await failure { () throws(ApiConnectorError) in try await api.send(at: Enveloped()) },
                try await failure { () throws(ApiConnectorError) in try await api.data(at: Enveloped()) },
                try await failure { () throws(ApiConnectorError) in try await api.response(at: Enveloped()) },
            ]
            for error in errors {
                #expect(error.kind == .backendFailure, "\(type ?? "no type")")
                #expect(error.failure(as: CodedFailure.self) == CodedFailure(code: 7, message: "no"))
            }
        }
    }

    @Test func bytesOfAnotherTypeAreNotParsed() async throws {
        let text = #"{"error":{"code":7,"message":"no"}}"#
        let api = CannedConnection(Coded.self, answering: text, type: "text/plain")
        #expect(try await api.data(at: Enveloped()) == Data(text.utf8))
    }

    @Test func withoutAnEnvelopeBytesAreBytes() async throws {
        let text = #"{"code":7,"message":"no"}"#
        let api = CannedConnection(BareEnvelope<CodedFailure>.self, answering: text)
        #expect(try await api.data(at: Enveloped()) == Data(text.utf8))
        try await api.send(at: Enveloped())
    }
}

/// `{"ok": true, "payload": …}` or `{"ok": false, "reason": …}`.
private enum OkEnvelope: ApiEnvelope {
    private struct Wrapper<Value: Decodable>: Decodable {
        let ok: Bool
        let payload: Value?
        let reason: String?
    }

    static func open<Value: Decodable>(
        _ type: Value.Type,
        from body: Data,
        with decoder: JSONDecoder
    ) throws -> EnvelopeContent<Value, String> {
        let wrapper = try decoder.decode(Wrapper<Value>.self, from: body)
        if wrapper.ok, let payload = wrapper.payload { return .value(payload) }
        return .failure(wrapper.reason ?? "unknown")
    }

    static func failure(in body: Data, with decoder: JSONDecoder) -> String? {
        try? decoder.decode(Wrapper<Int>.self, from: body).reason
    }
}
