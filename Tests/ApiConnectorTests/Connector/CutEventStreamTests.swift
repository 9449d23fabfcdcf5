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

    private struct Delta: Codable, Hashable, Sendable {
        var text: String?
        var index: Int?
    }

    private static let overloaded = #"{"error":{"code":9,"message":"overloaded"}}"#

    /// Such a type decodes from any object, and so from the backend's error too.
    @Test(arguments: [
        (
            "text/event-stream",
            "data: {\"text\":\"a\"}\n\ndata: {}\n\nevent: error\ndata: \(overloaded)\n\ndata: {}\n\n"
        ),
        ("application/x-ndjson", "{\"text\":\"a\"}\n{}\n\(overloaded)\n{}\n"),
        ("application/json-seq", "\u{1E}{\"text\":\"a\"}\n\u{1E}{}\n\u{1E}\(overloaded)\n\u{1E}{}\n"),
    ])
    func failsWithTheBackendsErrorAlsoIfEachMemberIsOptional(_ type: String, _ text: String) async throws {
        let api = connection(DataEnvelope<CodedFailure>.self, sending: text, type: type)
        let formats: [StreamFormat<Delta>] = [.automatic, .skippingUndecodable(.automatic)]
        for format in formats {
            let found = await api.stream(of: Delta.self, at: Enveloped(), as: format).readToTheEnd()
            #expect(found.elements == [Delta(text: "a"), Delta()])
            #expect(found.error?.kind == .backendFailure)
            #expect(found.error?.failure(as: CodedFailure.self) == CodedFailure(code: 9, message: "overloaded"))
        }
        let results = await api.stream(
            of: Result<Delta, ApiConnectorError>.self,
            at: Enveloped(),
            as: .results(.automatic)
        ).readToTheEnd().elements
        #expect(results.map { (try? $0.get())?.text } == ["a", nil, nil, nil])
        try #require(results.count == 4)
        #expect(throws: ApiConnectorError.self) { try results[2].get() }
    }

    @Test func failsWithABareErrorThatGivesAnEmptyValue() async throws {
        let text = "data: {\"text\":\"a\"}\n\ndata: {\"code\":9,\"message\":\"overloaded\"}\n\n"
        let api = connection(BareEnvelope<CodedFailure>.self, sending: text, type: "text/event-stream")
        let found = await api.stream(of: Delta.self, at: Enveloped(), as: .events).readToTheEnd()
        #expect(found.elements == [Delta(text: "a")])
        #expect(found.error?.kind == .backendFailure)
    }

    @Test func aMissingOrNullErrorIsNoFailure() async throws {
        let text = "data: {\"text\":\"a\"}\n\ndata: {\"error\":null}\n\ndata: {\"text\":\"an \\\"error\\\"\"}\n\n"
        let api = connection(DataEnvelope<CodedFailure>.self, sending: text, type: "text/event-stream")
        let found = await api.stream(of: Delta.self, at: Enveloped(), as: .events).readToTheEnd()
        #expect(found.elements == [Delta(text: "a"), Delta(), Delta(text: "an \"error\"")])
        #expect(found.error == nil)
    }

    @Test func anElementOfAnArrayMayBeTheBackendsError() async throws {
        let text = "{\"data\":[{\"text\":\"a\"},{\"text\":\"b\"},\(Self.overloaded)]}"
        let api = connection(DataEnvelope<CodedFailure>.self, sending: text, type: "application/json")
        let found = await api.stream(of: Delta.self, at: Enveloped(), as: .elements(at: "data")).readToTheEnd()
        #expect(found.elements == [Delta(text: "a"), Delta(text: "b")])
        #expect(found.error?.kind == .backendFailure)
    }

    @Test func anEventWithEmptyDataIsNoElement() async throws {
        let text = "event: ping\ndata:\n\ndata: {\"id\":1}\n\ndata: \n\ndata\n\ndata:  \ndata:\n\ndata: {\"id\":2}\n\n"
        let api = connection(sending: text, type: "text/event-stream")
        let found = await api.stream(of: Item.self, at: Enveloped(), as: .events).readToTheEnd()
        #expect(found.elements == [Item(id: 1), Item(id: 2)])
        #expect(found.error == nil)
        // A stream of events has each one.
        let events = await api.stream(of: ServerSentEvent.self, at: Enveloped(), as: .events).readToTheEnd()
        #expect(events.elements.count == 6)
    }
}
