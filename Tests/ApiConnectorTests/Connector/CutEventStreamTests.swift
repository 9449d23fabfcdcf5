// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Event streams that end before they are complete, and the backend's own errors in them.
struct CutEventStreamTests {
    private typealias Connection<Envelope: ApiEnvelope> = NetworkConnector<
        TestConnector<ClosureResponses>, Enveloped<Envelope>
    >

    /// A connection whose server sends a text and ends the response.
    private func connection<Envelope: ApiEnvelope>(
        _ envelope: Envelope.Type = BareEnvelope<NoFailure>.self,
        sending text: String,
        type: String = "text/event-stream",
        status: HTTPStatus = 200
    ) -> Connection<Envelope> {
        NetworkConnector(envelope, answering: text, status: status, type: type)
    }

    private static let cut =
        "the server ended the stream before the event that marks its end, so the stream is incomplete"

    @Test(arguments: ["data: 1\n\n", "data: 1\n\ndata: [DONE]\n", ""])
    func failsWhenTheServerEndsItBeforeItsSentinel(_ text: String) async throws {
        let api = connection(sending: text)
        let post = Enveloped<BareEnvelope<NoFailure>>(method: .post)
        let decoded = await api.stream(of: Int.self, at: post, as: .events(until: "[DONE]")).readToTheEnd()
        #expect(decoded.elements == (text.isEmpty ? [] : [1]))
        let error = try #require(decoded.error)
        #expect(error.kind == .connectionLost)
        #expect(error.detail == Self.cut)
        #expect(error.response?.status == 200)
        let plain = await api.stream(of: ServerSentEvent.self, at: post, as: .events { $0.data == "[DONE]" })
            .readToTheEnd()
        #expect(plain.error?.kind == .connectionLost)
        let skipping = api.stream(of: Int.self, at: post, as: .skippingUndecodable(.events(until: "[DONE]")))
        #expect(await skipping.readToTheEnd().error?.kind == .connectionLost)
    }

    @Test func saysThatAStreamCanBeResumed() async throws {
        let api = connection(sending: "data: 1\n\n")
        let found = await api.stream(of: Int.self, at: Enveloped(), as: .events(until: "[DONE]")).readToTheEnd()
        #expect(found.error?.detail == Self.cut + "; add .resuming() to the format to request the rest")
    }

    @Test func endsWithoutASentinelIfTheSentinelIsOptional() async throws {
        let api = connection(sending: "data: 1\n\n")
        let found = await api.stream(
            of: Int.self,
            at: Enveloped(),
            as: .events(until: "[DONE]", isSentinelOptional: true)
        ).readToTheEnd()
        #expect(found.elements == [1])
        #expect(found.error == nil)
    }

    /// Status 204 is the server's word that there is nothing more.
    @Test func endsWithAResponseThatHasNoBody() async throws {
        let api = connection(sending: "", status: 204)
        let found = await api.stream(of: Int.self, at: Enveloped(), as: .events(until: "[DONE]")).readToTheEnd()
        #expect(found.elements.isEmpty)
        #expect(found.error == nil)
    }

    @Test(arguments: [
        (
            "text/event-stream",
            "data: {\"id\":1}\n\nevent: error\ndata: {\"error\":{\"code\":9,\"message\":\"overloaded\"}}\n\n"
        ),
        ("application/x-ndjson", "{\"id\":1}\n{\"error\":{\"code\":9,\"message\":\"overloaded\"}}\n"),
    ])
    func failsWithTheBackendsErrorInTheMiddle(_ type: String, _ text: String) async throws {
        let api = connection(DataEnvelope<CodedFailure>.self, sending: text, type: type)
        let found = await api.stream(of: Item.self, at: Enveloped()).readToTheEnd()
        #expect(found.elements == [Item(id: 1)])
        let error = try #require(found.error)
        #expect(error.kind == .backendFailure)
        #expect(error.failure(as: CodedFailure.self) == CodedFailure(code: 9, message: "overloaded"))
        #expect(error.detail == "the backend answered 200 OK and reported its own error")
        #expect(error.response?.bodyPrefix.contains("overloaded") == true)
        let format = StreamFormat<Item>.skippingUndecodable(.automatic)
        #expect(
            await api.stream(of: Item.self, at: Enveloped(), as: format).readToTheEnd().error?.kind == .backendFailure
        )
    }
}
