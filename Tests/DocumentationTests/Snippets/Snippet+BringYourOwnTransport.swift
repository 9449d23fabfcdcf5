// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

// The guide's `Mutex`: the thread sanitizer does not see the order of Synchronization's on Linux.
private typealias Mutex = Locked

enum BringYourOwnTransport {
    struct SomeClient: Sendable {
        struct Answer {
            let status: Int
            let fields: [(String, String)]
            let body: Data
        }

        let answer: @Sendable () async throws -> Answer

        func send(_ method: String, _ url: URL, _ fields: [(String, String)], _ body: Data) async throws -> Answer {
            try await answer()
        }
    }

    final class CallbackClient: Sendable {
        struct Transfer: Sendable {
            let cancel: @Sendable () -> Void
        }

        let answer: Result<Data, any Error>?
        /// One element for each request that is on its way.
        let sent = AsyncStream.makeStream(of: Void.self)

        init(_ answer: Result<Data, any Error>?) {
            self.answer = answer
        }

        func send(
            _ method: String,
            _ url: URL,
            _ body: Data,
            progress: @escaping @Sendable () -> Void,
            completion: @escaping @Sendable (Result<Data, any Error>) -> Void
        ) -> Transfer {
            progress()
            if let answer { completion(answer) }
            sent.continuation.yield()
            return Transfer(cancel: {})
        }
    }

    struct ClientTransport: DataRequestType {
        let client: SomeClient

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            try request.checkSendable()
            return try await ApiConnectorError.mapping(request) {
                let body = try await request.body.collect(upTo: 16 << 20)
                let fields = request.headers.map { ($0.name.rawValue, $0.value) }
                let answer = try await client.send(request.method.rawValue, request.url, fields, body)
                var headers = HTTPHeaders()
                for (name, value) in answer.fields { headers.append(HTTPHeaders.Name(name), value) }
                return ApiResponse(
                    to: request,
                    status: HTTPStatus(rawValue: answer.status),
                    headers: headers,
                    body: ResponseBody(answer.body)
                )
            }
        }
    }

    struct CallbackTransport: DataRequestType {
        let client: CallbackClient

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            try request.checkSendable()
            return try await request.withTimeLimits { (request) throws(ApiConnectorError) in
                let data = try await request.body.collect(upTo: 16 << 20)
                let exchange = Exchange()
                let result = await request.withStopHandler {
                    await withCheckedContinuation { continuation in
                        exchange.wait(continuation)
                        let transfer = client.send(request.method.rawValue, request.url, data) {
                            request.reportProgress()
                        } completion: { answer in
                            exchange.end(
                                answer.map { ApiResponse(to: request, status: 200, body: ResponseBody($0)) }
                                    .mapError { ApiConnectorError(mapping: $0, request: request) }
                            )
                        }
                        exchange.run(transfer)
                    }
                } onStop: { error in
                    exchange.end(.failure(error))
                }
                return try result.get()
            }
        }
    }

    final class Exchange: Sendable {
        typealias Outcome = Result<ApiResponse, ApiConnectorError>

        private struct State {
            var continuation: CheckedContinuation<Outcome, Never>?
            var outcome: Outcome?
            var transfer: CallbackClient.Transfer?
        }

        private let state = Mutex(State())

        func wait(_ continuation: CheckedContinuation<Outcome, Never>) {
            let outcome = state.withLock { state in
                if state.outcome == nil { state.continuation = continuation }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) }
        }

        func run(_ transfer: CallbackClient.Transfer) {
            let isOver = state.withLock { state in
                state.transfer = transfer
                return state.outcome != nil
            }
            if isOver { transfer.cancel() }
        }

        func end(_ outcome: Outcome) {
            let last: State? = state.withLock { state in
                guard state.outcome == nil else { return nil }
                state.outcome = outcome
                defer { state.continuation = nil }
                return state
            }
            last?.continuation?.resume(returning: outcome)
            last?.transfer?.cancel()
        }
    }

    static func connects(_ client: SomeClient) {
        let api = NetworkConnector(
            environment: .production,
            provider: ClientTransport(client: client),
            router: Blog.self
        )
        _ = api
    }
}

@Suite struct TransportsOfYourOwn {
    private func api<Provider: DataRequestType>(_ provider: Provider) -> NetworkConnector<Provider, Blog> {
        NetworkConnector(environment: .production, provider: provider)
    }

    @Test func theAsynchronousClientAnswers() async throws {
        let client = BringYourOwnTransport.SomeClient {
            .init(status: 200, fields: [("Content-Type", "application/json")], body: Data(#"{"name":"Ada"}"#.utf8))
        }
        let user = try await api(BringYourOwnTransport.ClientTransport(client: client)).value(User.self, at: .me)
        #expect(user.name == "Ada")
    }

    @Test func theAsynchronousClientIsEndedByALimit() async throws {
        let clock = ManualClock()
        let client = BringYourOwnTransport.SomeClient {
            let forever = AsyncStream<Never> { _ in }
            for await _ in forever {}
            throw CancellationError()
        }
        let options = CallOptions(timeouts: Timeouts(overall: .seconds(5)), timeSource: clock)
        let call = Task {
            try await api(BringYourOwnTransport.ClientTransport(client: client)).send(at: .me, options: options)
        }
        _ = try await clock.nextSleep()
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .deadlineExceeded)
    }

    @Test func theClientWithCallbacksAnswers() async throws {
        let client = BringYourOwnTransport.CallbackClient(.success(Data(#"{"name":"Ada"}"#.utf8)))
        let user = try await api(BringYourOwnTransport.CallbackTransport(client: client)).value(User.self, at: .me)
        #expect(user.name == "Ada")
    }

    @Test func theClientWithCallbacksFailsWithAKind() async throws {
        let transport = BringYourOwnTransport.CallbackTransport(client: .init(.failure(URLError(.cannotFindHost))))
        let error = await #expect(throws: ApiConnectorError.self) { try await api(transport).send(at: .me) }
        #expect(error?.kind == .nameNotResolved)
        #expect(error?.request?.url.hasSuffix("/me") == true)
    }

    @Test func theClientWithCallbacksIsEndedByALimit() async throws {
        let clock = ManualClock()
        let options = CallOptions(timeouts: Timeouts(stall: .seconds(5)), timeSource: clock)
        let client = BringYourOwnTransport.CallbackClient(nil)
        let call = Task {
            try await api(BringYourOwnTransport.CallbackTransport(client: client)).send(at: .me, options: options)
        }
        _ = try await clock.nextSleep()
        // The client reports progress while it sends. The time advances only after that.
        for await _ in client.sent.stream { break }
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .stalled)
    }
}
