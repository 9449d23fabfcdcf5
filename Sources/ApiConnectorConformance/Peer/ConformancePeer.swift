// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ApiConnectorTestServers

/// The receiver of a case's requests: a server on a socket, or the answers of a test double.
protocol ConformancePeer: Sendable {
    /// The received requests and how each ended.
    var log: PeerLog { get }

    /// The URL of a target: a path, with its query.
    func url(_ target: String) -> URL

    /// Opens a gate, for steps that wait at it now or later.
    func release(_ hold: Int)

    /// Ends everything at once.
    func stop()
}

/// A request as it arrived.
struct PeerRequest: Sendable {
    let method: String
    /// The path and the query, byte for byte.
    let target: String
    let fields: [(name: String, value: String)]
    /// The request's body; empty until it was read.
    var body = Data()

    func values(_ name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}

/// The requests that the peer received, with the waiters for them.
final class PeerLog: Sendable {
    private struct Entry {
        let arrival = Eventual<Void>()
        let whole = Eventual<PeerRequest>()
        let isLeft = Eventual<Bool>()
        var request: PeerRequest?

        /// Resumes all waiters.
        func release() {
            arrival.set(())
            whole.set(PeerRequest(method: "", target: "", fields: []))
            isLeft.set(false)
        }
    }

    private struct State {
        var entries: [Entry] = []
        var arrivedCount = 0
        var sentByteCount = 0
        var isClosed = false
    }

    private let state = Locked(State())

    /// The limit of each wait.
    ///
    /// A case usually has a shorter limit.
    private static let patience = Duration.seconds(600)

    /// The requests that have arrived, in order.
    var requests: [PeerRequest] {
        state.withLock { $0.entries.compactMap(\.request) }
    }

    /// The number of body bytes that were sent.
    var sentByteCount: Int { state.withLock { $0.sentByteCount } }

    /// Waits for the head of a request, counted from 0.
    func arrival(_ number: Int) async throws {
        try await entry(number).arrival.value(within: Self.patience, orSay: "request \(number) did not arrive")
    }

    /// Waits for a request, including its body if the peer reads the body.
    func request(_ number: Int) async throws -> PeerRequest {
        try await entry(number).whole.value(within: Self.patience, orSay: "request \(number) did not arrive whole")
    }

    /// Waits until the caller disconnects from a request.
    func callerLeft(_ number: Int) async throws {
        let end = entry(number).isLeft
        let isLeft = try await end.value(
            within: Self.patience,
            orSay: "the caller of request \(number) did not disconnect"
        )
        if !isLeft {
            throw CaseFailure(
                description: "request \(number) was answered completely, so its caller did not disconnect"
            )
        }
    }

    // MARK: - For the peers

    func begin(_ request: PeerRequest) -> Int {
        let number = state.withLock { state in
            defer { state.arrivedCount += 1 }
            return state.arrivedCount
        }
        let arrival = entry(number) { $0.request = request }.arrival
        arrival.set(())
        return number
    }

    func complete(_ number: Int, body: Data) {
        let entry = entry(number) { $0.request?.body = body }
        if let request = entry.request { entry.whole.set(request) }
    }

    /// Records how a request ended; the first end counts.
    func end(_ number: Int, isLeft: Bool) {
        entry(number).isLeft.set(isLeft)
    }

    func sent(_ byteCount: Int) {
        state.withLock { $0.sentByteCount += byteCount }
    }

    /// Ends every wait, because the case is over.
    func close() {
        let entries = state.withLock { state in
            state.isClosed = true
            return state.entries
        }
        for entry in entries { entry.release() }
    }

    private func entry(_ number: Int, _ change: (inout Entry) -> Void = { _ in }) -> Entry {
        let (entry, isClosed) = state.withLock { state in
            while state.entries.count <= number { state.entries.append(Entry()) }
            change(&state.entries[number])
            return (state.entries[number], state.isClosed)
        }
        if isClosed { entry.release() }
        return entry
    }
}

/// The gates of a case, by number.
final class PeerGates: Sendable {
    private let gates = Locked<[Int: Gate]>([:])
    private let isOver = Locked(false)

    func gate(_ number: Int) -> Gate {
        let gate = gates.withLock { gates in
            if let gate = gates[number] { return gate }
            let gate = Gate("gate \(number) of the case")
            gates[number] = gate
            return gate
        }
        if isOver.withLock({ $0 }) { gate.open() }
        return gate
    }

    func openAll() {
        isOver.withLock { $0 = true }
        for gate in gates.withLock({ Array($0.values) }) { gate.open() }
    }
}
