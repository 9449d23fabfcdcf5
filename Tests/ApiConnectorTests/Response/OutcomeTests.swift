// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

struct OutcomeTests {
    /// An outcome in words.
    private func words<Failure: Sendable>(_ outcome: ApiOutcome<Item, Failure>) -> String {
        switch outcome {
        case .success(let item): "success \(item.id)"
        case .backendFailure(let failure, let head): "errors \(failure) in \(head.status.rawValue)"
        case .failure(let error): "failure \(error.kind)"
        }
    }

    private func words<Envelope: ApiEnvelope>(
        _ envelope: Envelope.Type,
        _ text: String,
        _ status: HTTPStatus = 200,
        type: String? = "application/json"
    ) async -> String {
        let api = CannedConnection(envelope, answering: text, status: status, type: type)
        return words(await api.outcome(Item.self, at: Enveloped()))
    }

    @Test(arguments: [200, 201, 300, 404, 500])
    func errorsAreFoundInEveryStatus(_ status: Int) async {
        let found = await words(OrderEnvelope.self, #"{"errors":[{"id":"bad"}]}"#, HTTPStatus(rawValue: status))
        #expect(found == #"errors [["id": "bad"]] in \#(status)"#)
    }

    @Test(arguments: ["text/html", nil])
    func errorsAreFoundInEveryMediaType(_ type: String?) async {
        #expect(
            await words(OrderEnvelope.self, #"{"errors":[{"id":"bad"}]}"#, type: type)
                == #"errors [["id": "bad"]] in 200"#
        )
    }

    @Test(arguments: ["[]", "null"])
    func anEmptyErrorListIsNoError(_ none: String) async {
        #expect(await words(OrderEnvelope.self, #"{"data":{"id":1},"errors":\#(none)}"#) == "success 1")
    }

    @Test(arguments: [
        ("<html>", 500, "text/html", "failure unacceptableStatus"),
        ("<html>", 200, "text/html", "failure unacceptableMediaType"),
        (#"{"data":{"id":1}}"#, 500, "application/json", "failure unacceptableStatus"),
        (#"{"data":{"id":"1"}}"#, 200, "application/json", "failure decodingFailed"),
        (#"{"data""#, 200, "application/json", "failure decodingFailed"),
        (#"{"errors":["bad"]}"#, 200, "application/json", "failure decodingFailed"),
        (#"{"errors":["bad"]}"#, 422, "application/json", "failure unacceptableStatus"),
        ("", 200, "application/json", "failure decodingFailed"),
        ("", 422, "application/json", "failure unacceptableStatus"),
    ])
    func everythingElseIsAFailure(_ text: String, _ status: Int, _ type: String, _ expected: String) async {
        #expect(await words(OrderEnvelope.self, text, HTTPStatus(rawValue: status), type: type) == expected)
    }

    @Test func aBareBodyThatIsBothIsTheValueIfItsStatusIsAccepted() async {
        #expect(await words(BareEnvelope<Item>.self, #"{"id":1}"#) == "success 1")
        #expect(await words(BareEnvelope<Item>.self, #"{"id":1}"#, 400) == "errors Item(id: 1) in 400")
    }

    @Test func withoutAFailureThereAreNoErrors() async {
        #expect(await words(BareEnvelope<NoFailure>.self, #"{"id":1}"#, 400) == "failure unacceptableStatus")
        #expect(await words(BareEnvelope<NoFailure>.self, #"{"errors":[]}"#) == "failure decodingFailed")
    }

    @Test func aCancelIsAFailure() async {
        let api = NetworkConnector(
            environment: Place(),
            provider: TestConnector { _ in .never },
            router: Enveloped<OrderEnvelope>.self
        )
        let call = Task { await api.outcome(Item.self, at: Enveloped()) }
        call.cancel()
        #expect(words(await call.value) == "failure cancelled")
    }

    @Test func aRefusedRequestIsAFailure() async {
        let api = NetworkConnector(
            environment: Place(host: ""),
            provider: TestConnector { _ in .never },
            router: Enveloped<OrderEnvelope>.self
        )
        #expect(words(await api.outcome(Item.self, at: Enveloped())) == "failure invalidRequest")
    }

    @Test func getReturnsTheValueOrThrowsTheFailure() throws {
        let url = try #require(URL(string: "http://api.example.com/it"))
        let head = ResponseHead(status: 422, url: url)
        #expect(try ApiOutcome<Item, CodedFailure>.success(Item(id: 1)).get() == Item(id: 1))

        let own = CodedFailure(code: 7, message: "no")
        let backends = try #require(throws: ApiConnectorError.self) {
            try ApiOutcome<Item, CodedFailure>.backendFailure(own, head).get()
        }
        #expect(backends.kind == .backendFailure)
        #expect(backends.failure(as: CodedFailure.self) == own)
        #expect(
            backends.description == "The call failed (backendFailure): "
                + "the backend answered 422 Unprocessable Content and reported its own error."
        )

        let failed = try #require(throws: ApiConnectorError.self) {
            try ApiOutcome<Item, CodedFailure>.failure(ApiConnectorError(.stalled, "it was silent")).get()
        }
        #expect(failed.kind == .stalled)
    }

    @Test(arguments: Wire.allCases)
    func theThreeStatesComeOverEveryTransport(_ wire: Wire) async throws {
        let web = try ScriptedWeb(over: wire) { request in
            switch request.target {
            case "/good": .json(#"{"data":{"id":1}}"#, status: 201)
            case "/bad": .json(#"{"errors":[{"id":"bad"}]}"#)
            default: LoopbackResponse(status: 500, headers: [("Content-Type", "text/html")], body: Data("<html>".utf8))
            }
        }
        let api = NetworkConnector(
            environment: web.place,
            provider: web.provider,
            router: Enveloped<OrderEnvelope>.self,
            configuration: .patient
        )
        var found: [String] = []
        for path in ["/good", "/bad", "/broken"] {
            found.append(words(await api.outcome(Item.self, at: Enveloped(path: path))))
        }
        #expect(found == ["success 1", #"errors [["id": "bad"]] in 200"#, "failure unacceptableStatus"])
    }
}

/// JSON:API with the dictionaries of seed 003 as error objects.
private typealias OrderEnvelope = JSONAPIEnvelope<[String: String]>
