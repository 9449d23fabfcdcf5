// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

struct ProblemDetailsTests {
    private static let text = """
        {"type":"https://example.com/out-of-credit","title":"Out of credit","status":403,\
        "detail":"It costs 50","instance":"/msgs/1"}
        """
    private static let problem = ProblemDetails(
        type: "https://example.com/out-of-credit",
        title: "Out of credit",
        status: 403,
        detail: "It costs 50",
        instance: "/msgs/1"
    )

    private func error<Envelope: ApiEnvelope>(
        _ envelope: Envelope.Type,
        _ text: String = text,
        status: HTTPStatus = 403,
        type: String = "application/problem+json"
    ) async throws -> ApiConnectorError {
        let api = CannedConnection(envelope, answering: text, status: status, type: type)
        return try await failure { () throws(ApiConnectorError) in try await api.value(Item.self, at: Enveloped()) }
    }

    @Test(arguments: ["application/problem+json", "Application/Problem+JSON; charset=utf-8"])
    func areKnownByTheirMediaType(_ type: String) async throws {
        for error in [
            try await error(BareEnvelope<NoFailure>.self, type: type),
            try await error(DataEnvelope<CodedFailure>.self, type: type),
        ] {
            #expect(error.kind == .unacceptableStatus)
            #expect(error.problem == Self.problem)
            #expect(error.backendFailure == nil)
        }
    }

    @Test func areNotSeenInAnotherType() async throws {
        let error = try await error(BareEnvelope<NoFailure>.self, type: "application/json")
        #expect(error.kind == .unacceptableStatus)
        #expect(error.problem == nil)
    }

    @Test func canBeTheFailureOfARouter() async throws {
        let error = try await error(BareEnvelope<ProblemDetails>.self)
        #expect(error.kind == .backendFailure)
        #expect(error.problem == Self.problem)
        #expect(error.failure(as: ProblemDetails.self) == Self.problem)
    }

    @Test func areAvailableWithTheRoutersOwnFailure() async throws {
        let error = try await error(BareEnvelope<Titled>.self)
        #expect(error.kind == .backendFailure)
        #expect(error.failure(as: Titled.self)?.title == "Out of credit")
        #expect(error.problem == Self.problem)
    }

    @Test func areFoundInAnAcceptedResponseToo() async throws {
        let error = try await error(BareEnvelope<NoFailure>.self, status: 200)
        #expect(error.kind == .decodingFailed)
        #expect(error.problem == Self.problem)
    }

    @Test func areReadByCallsWithoutAValue() async throws {
        let type = "application/problem+json"
        let api = CannedConnection(BareEnvelope<NoFailure>.self, answering: Self.text, status: 403, type: type)
        let error = try await failure { () throws(ApiConnectorError) in try await api.send(at: Enveloped()) }
        #expect(error.problem == Self.problem)
    }

    /// RFC 9457, section 3.1: a member of the wrong type is ignored.
    @Test func aMemberOfTheWrongTypeIsAbsent() async throws {
        let error = try await error(BareEnvelope<NoFailure>.self, #"{"type":7,"title":"Odd","status":"403"}"#)
        #expect(error.problem == ProblemDetails(title: "Odd"))
    }

    @Test(arguments: ["<html>", "[]", "{}", #"{"code":7}"#])
    func aBodyThatIsNotAProblemIsIgnored(_ text: String) async throws {
        let error = try await error(BareEnvelope<NoFailure>.self, text)
        #expect(error.kind == .unacceptableStatus)
        #expect(error.problem == nil)
    }
}

private struct Titled: Decodable, Sendable {
    let title: String
}
