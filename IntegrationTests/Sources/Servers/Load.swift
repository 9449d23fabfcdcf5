// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
public import ApiConnector
import Foundation
import Synchronization

/// Sends many numbered requests, some of them concurrently, and records their results.
public struct Load: Sendable {
    private let method: HTTPMethod
    private let count: Int
    private let inFlight: Int
    private let longestPause: Duration

    /// - Parameters:
    ///   - method: `GET`, or `POST` with a body.
    ///   - count: The number of requests.
    ///   - inFlight: The number of requests in flight.
    ///   - longestPause: The longest pause between a response and the next request; zero by default. Pauses have random
    ///     lengths, so that the server closes some idle connections while a request is sent.
    public init(_ method: HTTPMethod, _ count: Int, inFlight: Int, longestPause: Duration = .zero) {
        (self.method, self.count, self.inFlight) = (method, count, inFlight)
        self.longestPause = longestPause
    }

    /// Sends all requests.
    ///
    /// - Parameters:
    ///   - progress: Called after each request with the number of requests that have ended; does nothing by default.
    public func run(
        over provider: CurlProvider,
        at url: URL,
        progress: @escaping @Sendable (Int) throws -> Void = { _ in }
    ) async throws -> LoadResult {
        let ledger = Ledger(LoadResult(method: method, count: count))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<inFlight {
                group.addTask { @concurrent in
                    while let number = ledger.nextNumber() {
                        let outcome = await send(number, over: provider, at: url)
                        try progress(ledger.insert(outcome, number))
                        if longestPause > .zero { try await Task.sleep(for: longestPause * Double.random(in: 0...1)) }
                    }
                }
            }
            try await group.waitForAll()
        }
        return ledger.result
    }

    private func send(
        _ number: Int,
        over provider: CurlProvider,
        at url: URL
    ) async -> Result<HTTPHeaders, ApiConnectorError> {
        var request = ApiRequest(url: url, method: method)
        request.headers["X-Request-Id"] = String(number)
        if method == .post { request.body = .data(Data("number \(number)".utf8)) }
        do throws(ApiConnectorError) {
            let response = try await provider.response(for: request)
            _ = try await response.body.collect(upTo: 1_000)
            return .success(response.headers)
        } catch {
            return .failure(error)
        }
    }
}

/// The numbers of the requests that were not sent yet, and the results of the other requests.
private final class Ledger: Sendable {
    private let state: Mutex<(next: Int, result: LoadResult)>

    init(_ result: LoadResult) {
        state = Mutex((1, result))
    }

    var result: LoadResult { state.withLock { $0.result } }

    func nextNumber() -> Int? {
        state.withLock { state in
            guard state.next <= state.result.count else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    func insert(_ outcome: Result<HTTPHeaders, ApiConnectorError>, _ number: Int) -> Int {
        state.withLock { $0.result.insert(outcome, number) }
    }
}

/// The result of a ``Load``.
public struct LoadResult: Sendable, CustomStringConvertible {
    fileprivate let method: HTTPMethod
    fileprivate let count: Int
    private var succeeded: Set<Int> = []
    private var errors: [Int: ApiConnectorError] = [:]
    /// The number of requests per connection of the server, by `X-Connection`.
    public private(set) var connections: [String: Int] = [:]
    /// The number of requests per process of the server, by `X-Worker`.
    public private(set) var workers: [String: Int] = [:]

    fileprivate init(method: HTTPMethod, count: Int) {
        (self.method, self.count) = (method, count)
    }

    /// The number of requests that ended with an error.
    public var lostCount: Int { errors.count }

    /// The number of lost requests that the server did not process.
    ///
    /// - Parameter processed: The number of times that the server processed each request.
    public func unprocessedLossCount(processed: [String: Int]) -> Int {
        errors.keys.count { processed["\($0)", default: 0] == 0 }
    }

    /// A summary line, and one line per reason for lost requests.
    public var description: String {
        let line =
            "\(count) × \(method): \(lostCount) lost, \(connections.count) connections, \(max(1, workers.count)) workers"
        return ([line] + lossReasons).joined(separator: "\n    ")
    }

    /// The number of lost requests per reason.
    ///
    /// A reason includes what the error says about sent bytes.
    private var lossReasons: [String] {
        let reasons = errors.values.map { "\($0.detail), sent: \($0.bytesSent.map { "\($0)" } ?? "unknown")" }
        return Dictionary(grouping: reasons) { $0 }.map { "\($1.count) × \($0)" }.sorted()
    }

    fileprivate mutating func insert(_ outcome: Result<HTTPHeaders, ApiConnectorError>, _ number: Int) -> Int {
        switch outcome {
        case .success(let headers):
            succeeded.insert(number)
            connections[headers["X-Connection"] ?? "", default: 0] += 1
            if let worker = headers["X-Worker"] { workers[worker, default: 0] += 1 }
        case .failure(let error):
            errors[number] = error
        }
        return succeeded.count + errors.count
    }

    /// The violations of the rules below; at most five per rule.
    ///
    /// - Every `GET` is answered.
    /// - A `POST` is processed at most once, and exactly once if its call succeeded.
    /// - If a `POST` failed, the error is a lost connection and says whether bytes were sent.
    ///
    /// - Parameters:
    ///   - processed: The number of times that the server processed each request.
    ///   - newConnectionsMayEnd: Whether a `GET` may be lost if its last connection was a new one; false by default. Such
    ///     a `GET` has been repeated, and a failed repetition is not repeated (RFC 9110, section 9.2.2).
    public func problems(processed: [String: Int], newConnectionsMayEnd: Bool = false) -> [String] {
        var problems: [String] = []
        if succeeded.count + errors.count != count { problems.append("\(succeeded.count + errors.count) calls ended") }
        if 2 * succeeded.count < count { problems.append("only \(succeeded.count) calls succeeded") }
        if method == .get {
            let lost = errors.filter { !newConnectionsMayEnd || $1.times?.isConnectionReused != false }
            problems += lost.sorted { $0.key < $1.key }.prefix(5).map { "GET \($0) is lost: \($1)" }
            problems += succeeded.filter { processed["\($0)", default: 0] == 0 }.prefix(5).map { "GET \($0): not sent" }
        } else {
            problems += processed.filter { $1 > 1 }.prefix(5).map { "\(method) \($0) was processed \($1) times" }
            problems += succeeded.filter { processed["\($0)"] != 1 }.prefix(5).map { "\(method) \($0): not processed" }
            problems += errors.compactMap { number, error in
                Self.problem(of: error, isProcessed: processed["\(number)"] != nil).map { "\(method) \(number): \($0)" }
            }
            .prefix(5)
        }
        return problems
    }

    private static func problem(of error: ApiConnectorError, isProcessed: Bool) -> String? {
        guard error.kind == .connectionLost else { return "an unexpected error: \(error)" }
        // nginx may process a request before its body has arrived, so the error may say that only some bytes were sent.
        switch error.bytesSent {
        case .nothing: return isProcessed ? "was processed, but the error says that nothing was sent: \(error)" : nil
        case nil: return "the error does not say whether bytes were sent: \(error)"
        default: return nil
        }
    }
}
#endif
