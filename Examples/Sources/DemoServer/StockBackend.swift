// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import FlyingFox
import FlyingSocks
import Foundation
import Synchronization

/// A stock that requires a token, and fails according to a plan.
final class StockBackend: Backend {
    private struct State {
        /// The number of the valid token.
        var token = 1
        var useCount = 0
        /// The number of requests per item.
        var askedCounts: [Int: Int] = [:]
    }

    private enum Answer {
        case item
        case unauthorized
        case fault(FaultPlan.Fault)
    }

    private let plan: FaultPlan
    private let state = Mutex(State())

    init(_ plan: FaultPlan) {
        self.plan = plan
    }

    func answer(_ call: Call) async throws -> HTTPResponse {
        switch (call.method, Array(call.path)) {
        case ("POST", ["token"]):
            let token = state.withLock { state in
                state.token += 1
                state.useCount = 0
                return state.token
            }
            return try .json(["token": "token-\(token)"])
        case ("GET", ["items"]):
            return try .json(["items": [1, 2, 3]], headers: [HTTPHeader("Cache-Control"): "max-age=60"])
        case ("GET", let path) where path.count == 2 && path[0] == "items":
            guard let item = Int(path[1]) else { return .message("There is no item \(path[1]).", .notFound) }
            switch next(item, call.authorization) {
            case .item: return try .json(["item": item])
            case .unauthorized: return .message("The token has expired.", .unauthorized)
            case .fault(.unavailable): return unavailable
            case .fault(.dropped): return dropped
            }
        default:
            return .message("There is no such endpoint.", .notFound)
        }
    }

    /// Responds to a request for an item.
    ///
    /// Faults come before the check of the token, and only a good response counts as a use of the token.
    private func next(_ item: Int, _ authorization: String?) -> Answer {
        state.withLock { state in
            let count = state.askedCounts[item, default: 0]
            state.askedCounts[item] = count + 1
            let faults = plan.faults(ofItem: item)
            if count < faults.count { return .fault(faults[count]) }
            let isGood = plan.tokenUseCount.map { state.useCount < $0 } ?? true
            guard authorization == "Bearer token-\(state.token)", isGood else { return .unauthorized }
            state.useCount += 1
            return .item
        }
    }

    private var unavailable: HTTPResponse {
        var response = HTTPResponse.message("Come back in a second.", .serviceUnavailable)
        response.headers[HTTPHeader("Retry-After")] = "1"
        return response
    }

    private var dropped: HTTPResponse {
        HTTPResponse(
            statusCode: .ok,
            headers: [.contentType: "application/json"],
            body: HTTPBodySequence(from: BrokenBytes(), count: 100)
        )
    }
}

/// The start of a body, after which the server closes the connection.
struct BrokenBytes: AsyncBufferedSequence {
    struct Broken: Error {}

    struct Iterator: AsyncBufferedIteratorProtocol {
        private var isAtStart = true

        mutating func next() async throws -> UInt8? { throw Broken() }

        mutating func nextBuffer(suggested count: Int) async throws -> Data? {
            guard isAtStart else { throw Broken() }
            isAtStart = false
            return Data("{".utf8)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator() }
}
