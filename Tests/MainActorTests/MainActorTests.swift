// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

struct MainActorTests {
    private let sightings = Sightings()

    private func connection(answering name: String) -> NetworkConnector<TestConnector<ClosureResponses>, WitnessRouter>
    {
        MainQueue.mark()
        return NetworkConnector(
            environment: .localhost,
            provider: TestConnector { [sightings] _ in
                sightings.note("provider")
                return .data(Data(#"{"name":"\#(name)"}"#.utf8))
            }
        )
    }

    @Test func theMarkIsSeenOnTheMainActor() {
        MainQueue.mark()
        #expect(MainQueue.isCurrent)
    }

    @Test func valueEncodesAndDecodesNothingOnTheMainActor() async throws {
        let api = connection(answering: "value-in")
        let witness: Witness = try await api.value(at: .publish(Witness(name: "value-out")))
        #expect(witness.name == "value-in")
        #expect(sightings.seen == ["provider": false])
        #expect(Sightings.decoder.seen["encoder of value-out"] == false)
        #expect(Sightings.decoder.seen["decoder of value-in"] == false)
    }

    @Test func responseEncodesAndDecodesNothingOnTheMainActor() async throws {
        let api = connection(answering: "response-in")
        let response = try await api.response(of: Witness.self, at: .publish(Witness(name: "response-out")))
        #expect(response.value.name == "response-in")
        #expect(sightings.seen == ["provider": false])
        #expect(Sightings.decoder.seen["encoder of response-out"] == false)
        #expect(Sightings.decoder.seen["decoder of response-in"] == false)
    }

    @Test func theOtherCallsEncodeNothingOnTheMainActor() async throws {
        let api = connection(answering: "unused")
        _ = try await api.data(at: .publish(Witness(name: "data-out")))
        try await api.send(at: .publish(Witness(name: "send-out")))
        _ = try await api.response(at: .publish(Witness(name: "plain-out")))
        #expect(sightings.seen == ["provider": false])
        for call in ["data", "send", "plain"] {
            #expect(Sightings.decoder.seen["encoder of \(call)-out"] == false)
        }
    }

    /// Checks that a call's provider, encoder and decoder ran, and none of them on the main queue.
    private func expectOffTheMainActor(_ call: String, decodes: Bool = true) {
        #expect(sightings.seen == ["provider": false])
        #expect(Sightings.decoder.seen["encoder of \(call)-out"] == false)
        if decodes { #expect(Sightings.decoder.seen["decoder of \(call)-in"] == false) }
    }

    @Test(arguments: [false, true])
    func pagesEncodeAndDecodeNothingOnTheMainActor(_ prefetching: Bool) async throws {
        let call = prefetching ? "prefetched" : "pages"
        let api = connection(answering: "\(call)-in")
        let pages = api.pages(
            of: Witness.self,
            from: .publish(Witness(name: "\(call)-out")),
            next: .route { [sightings] _ in
                sightings.note("next")
                return sightings.noteOnce() ? .posts : nil
            },
            prefetching: prefetching
        )
        var count = 0
        for try await page in pages {
            #expect(page.name == "\(call)-in")
            count += 1
        }
        #expect(count == 2)
        #expect(sightings.seen == ["provider": false, "next": false, "once": false])
        #expect(Sightings.decoder.seen["encoder of \(call)-out"] == false)
        #expect(Sightings.decoder.seen["decoder of \(call)-in"] == false)
    }

    @Test func outcomeEncodesAndDecodesNothingOnTheMainActor() async throws {
        let api = connection(answering: "outcome-in")
        let outcome = await api.outcome(Witness.self, at: .publish(Witness(name: "outcome-out")))
        #expect(try outcome.get().name == "outcome-in")
        expectOffTheMainActor("outcome")
    }

    @Test func aStreamEncodesAndDecodesNothingOnTheMainActor() async throws {
        let api = connection(answering: "stream-in")
        var names: [String] = []
        for try await witness in api.stream(of: Witness.self, at: .publish(Witness(name: "stream-out"))) {
            names.append(witness.name)
        }
        #expect(names == ["stream-in"])
        expectOffTheMainActor("stream")
    }

    @Test func aStreamOfElementsEncodesAndDecodesNothingOnTheMainActor() async throws {
        let api = connection(answering: "lines-in")
        let route = WitnessRouter.publish(Witness(name: "lines-out"))
        var names: [String] = []
        for try await witness in api.stream(of: Witness.self, at: route, as: .jsonLines) {
            names.append(witness.name)
            #expect(MainQueue.isCurrent)
        }
        #expect(names == ["lines-in"])
        expectOffTheMainActor("lines")
    }

    @Test func aDownloadEncodesNothingOnTheMainActor() async throws {
        let api = connection(answering: "download-in")
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        _ = try await api.download(at: .publish(Witness(name: "download-out")), to: file).file()
        for try await _ in api.download(at: .publish(Witness(name: "download-out")), to: file) {}
        expectOffTheMainActor("download", decodes: false)
    }

    @Test func anApiCallEncodesAndDecodesNothingOnTheMainActor() async throws {
        let api = connection(answering: "call-in")
        let call = ApiCall<WitnessRouter, Witness>(.publish(Witness(name: "call-out")))
        #expect(try await api.value(call).name == "call-in")
        #expect(try await api.response(call).value.name == "call-in")
        #expect(try await api.outcome(call).get().name == "call-in")
        for try await witness in api.stream(call) { #expect(witness.name == "call-in") }
        expectOffTheMainActor("call")
    }

    @Test func aCallAtAURLEncodesAndDecodesNothingOnTheMainActor() async throws {
        let api = connection(answering: "url-in")
        let url = try #require(URL(string: "http://localhost/posts"))
        let body = RequestBody.json(Witness(name: "url-out"))
        #expect(try await api.value(Witness.self, at: url, method: .post, body: body).name == "url-in")
        #expect(try await api.response(of: Witness.self, at: url, method: .post, body: body).value.name == "url-in")
        #expect(try await api.outcome(Witness.self, at: url, method: .post, body: body).get().name == "url-in")
        _ = try await api.response(at: url, method: .post, body: body)
        _ = try await api.data(at: url, method: .post, body: body)
        try await api.send(at: url, method: .post, body: body)
        for try await witness in api.stream(of: Witness.self, at: url, method: .post, body: body) {
            #expect(witness.name == "url-in")
        }
        expectOffTheMainActor("url")
    }

    @Test func aCompletionHandlerRunsOnTheMainActorAndNothingElseDoes() async throws {
        let api = connection(answering: "completion-in")
        let route = WitnessRouter.publish(Witness(name: "completion-out"))
        var handled: [Bool] = []
        await withCheckedContinuation { continuation in
            api.value(Witness.self, at: route) { _ in
                handled.append(MainQueue.isCurrent)
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            api.response(of: Witness.self, at: route) { _ in
                handled.append(MainQueue.isCurrent)
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            api.outcome(Witness.self, at: route) { _ in
                handled.append(MainQueue.isCurrent)
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            api.response(at: route) { _ in
                handled.append(MainQueue.isCurrent)
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            api.data(at: route) { _ in
                handled.append(MainQueue.isCurrent)
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            api.send(at: route) { _ in
                handled.append(MainQueue.isCurrent)
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            api.start {
                try await $0.value(Witness.self, at: route)
            } completion: { _ in
                handled.append(MainQueue.isCurrent)
                continuation.resume()
            }
        }
        #expect(handled == [true, true, true, true, true, true, true])
        expectOffTheMainActor("completion")
    }

    @Test func aBackendsFailureIsNotDecodedOnTheMainActor() async throws {
        MainQueue.mark()
        let api = NetworkConnector(
            environment: LocalEnvironment.localhost,
            provider: TestConnector { [sightings] _ in
                sightings.note("provider")
                return .data(Data(#"{"error":{"name":"failure-in"}}"#.utf8))
            },
            router: FailingRouter.self
        )
        guard case .backendFailure(let witness, _) = await api.outcome(Witness.self, at: .publish) else {
            Issue.record("no errors")
            return
        }
        #expect(witness.name == "failure-in")
        #expect(sightings.seen == ["provider": false])
        #expect(Sightings.decoder.seen["decoder of failure-in"] == false)
    }
}

enum FailingRouter: String, ApiRouter {
    typealias EnvironmentType = LocalEnvironment
    typealias EnvelopeType = DataEnvelope<Witness>
    case publish = "/posts"
}
