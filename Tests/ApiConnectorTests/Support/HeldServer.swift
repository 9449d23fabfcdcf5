// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// A provider that holds each request until the test answers it; a cancel or a limit of time ends it at once.
///
/// The body of an answer is what was asked for and as whom: ``ApiRequest/subject``.
final class HeldServer: DataRequestType {
    enum Answer: Sendable {
        case status(HTTPStatus, HTTPHeaders = HTTPHeaders())
        case failure(ApiConnectorError.Kind)
        /// The head now, the body's end when the test says so; a status where the body is to be collected.
        case stream
    }

    private struct Exchange: Sendable {
        let request: ApiRequest
        let answer = PendingResult<Answer>()
        let body = PendingResult<Void>()
        var isHeld = true
        var isOpen = true
        /// Whether a cancel or a limit of time ended the wait.
        var isStopped = false
    }

    private struct State {
        var exchanges: [Exchange] = []
        var openCounts: [String: Int] = [:]
        var mostOpen: [String: Int] = [:]
        /// Pairs that asked for the same while both were held.
        var overlaps: [(Int, Int)] = []
        var isCalm = false

        func numbers(where isMeant: (Exchange) -> Bool) -> [Int] { exchanges.indices.filter { isMeant(exchanges[$0]) } }
    }

    private let state = Locked(State())
    private let arrivals = EventLog<Int>()

    /// The sent requests, in order.
    var requests: [ApiRequest] { state.withLock { $0.exchanges.map(\.request) } }

    /// The numbers of the requests that wait for an answer.
    var held: [Int] { state.withLock { $0.numbers(where: \.isHeld) } }

    /// The numbers of the requests that have not ended.
    var open: [Int] { state.withLock { $0.numbers(where: \.isOpen) } }

    /// How many were open at the same time at most, by host.
    var mostOpen: [String: Int] { state.withLock { $0.mostOpen } }

    /// How many were ended by a cancel or a limit of time.
    var stoppedCount: Int { state.withLock { $0.numbers(where: \.isStopped).count } }

    /// The field in which an answer has the number of its request.
    static let numberField: HTTPHeaders.Name = "X-Exchange"

    /// Pairs that asked for the same at the same time.
    var overlaps: [(Int, Int)] { state.withLock { $0.overlaps } }

    /// Waits until `count` requests have come, each of which a cancel ends from then on.
    func has(_ count: Int) async throws {
        try await arrivals.happened(Set(0..<count))
    }

    /// Answers a request, by its number in the order of arrival; nothing happens to one that is over.
    func answer(_ number: Int, _ answer: Answer = .status(200)) {
        let exchange = state.withLock { state in
            state.exchanges[number].isHeld = false
            return state.exchanges[number]
        }
        exchange.answer.resume(with: .success(answer))
    }

    /// Ends the body of a stream, or breaks it off.
    func endBody(_ number: Int, failing kind: ApiConnectorError.Kind? = nil) {
        close(number)
        let body = state.withLock { $0.exchanges[number].body }
        body.resume(with: kind.map { .failure(ApiConnectorError($0, "it broke off")) } ?? .success(()))
    }

    /// Answers all held requests and all later requests at once.
    func calmDown() {
        let numbers = state.withLock { state in
            state.isCalm = true
            return state.numbers(where: \.isOpen)
        }
        for number in numbers {
            answer(number)
            let body = state.withLock { $0.exchanges[number].body }
            if open.contains(number) { body.resume(with: .success(())) }
        }
    }

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try await request.withTimeLimits { (request) throws(ApiConnectorError) in try await exchange(request) }
    }

    private func exchange(_ request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        let (number, exchange) = begin(request)
        let outcome = await request.withStopHandler {
            arrivals.note(number)
            return await exchange.answer.result()
        } onStop: { [self] error in
            giveUp(number)
            exchange.answer.resume(with: .failure(error))
        }
        guard case .success(.stream) = outcome, request.delivery == .streamed else {
            close(number)
            let body = ResponseBody(Data(request.subject.utf8))
            switch try outcome.get() {
            case .status(let status, var headers):
                headers[Self.numberField] = String(number)
                return ApiResponse(to: request, status: status, headers: headers, body: body)
            case .failure(let kind): throw ApiConnectorError(kind, "it failed", request: request)
            case .stream: return ApiResponse(to: request, status: 200, body: body)
            }
        }
        let body = ResponseBody(
            pulling: { [self] () async throws(ApiConnectorError) in
                defer { close(number) }
                try await exchange.body.result().get()
                return nil
            },
            cancel: { [self] in
                close(number)
                exchange.body.resume(with: .failure(ApiConnectorError(.cancelled, "the body was released")))
            }
        )
        return ApiResponse(to: request, status: 200, body: body)
    }

    private func begin(_ request: ApiRequest) -> (Int, Exchange) {
        let host = request.url.host() ?? ""
        return state.withLock { state in
            var exchange = Exchange(request: request)
            let number = state.exchanges.count
            for other in state.numbers(where: { $0.isHeld && $0.request.subject == request.subject }) {
                state.overlaps.append((other, number))
            }
            if state.isCalm {
                exchange.isHeld = false
                exchange.answer.resume(with: .success(.status(200)))
            }
            state.exchanges.append(exchange)
            state.openCounts[host, default: 0] += 1
            state.mostOpen[host] = max(state.mostOpen[host] ?? 0, state.openCounts[host] ?? 0)
            return (number, exchange)
        }
    }

    private func giveUp(_ number: Int) {
        state.withLock { state in
            if state.exchanges[number].isHeld { state.exchanges[number].isStopped = true }
            state.exchanges[number].isHeld = false
        }
    }

    private func close(_ number: Int) {
        state.withLock { state in
            guard state.exchanges[number].isOpen else { return }
            state.exchanges[number].isOpen = false
            state.openCounts[state.exchanges[number].request.url.host() ?? "", default: 0] -= 1
        }
    }
}

extension ApiRequest {
    /// A request to a host of the tests, on a clock.
    static func made(
        _ host: String = "one.example.com",
        _ method: HTTPMethod = .get,
        path: String = "/",
        body: RequestBody = .empty,
        streamed: Bool = false,
        priority: CallPriority = .normal,
        deadline: Duration? = nil,
        on timers: TimerQueue
    ) -> ApiRequest {
        let url = URL(string: "http://\(host)\(path)") ?? URL(filePath: "")
        var request = ApiRequest(url: url, method: method, body: body, delivery: streamed ? .streamed : .standard)
        request.priority = priority
        request.deadline = deadline
        request.timers = timers
        return request
    }

    /// The path and the user of the request.
    var subject: String { "\(url.path()) as \(headers[.authorization] ?? "nobody")" }
}
