// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Where the requests of a case arrive: a server on a socket, or the answers of a test double.
protocol ConformancePeer: Sendable {
    /// Who came, and how it ended.
    var log: PeerLog { get }

    /// The URL of a target: a path, with its query.
    func url(_ target: String) -> URL

    /// Lets go on what waits at a gate, now or later.
    func release(_ hold: Int)

    /// Ends everything at once.
    func stop()
}

/// A request as it arrived.
struct PeerRequest: Sendable {
    let method: String
    /// Path and query, byte for byte.
    let target: String
    let fields: [(name: String, value: String)]
    /// Empty until it was read.
    var body = Data()

    func values(_ name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}

/// What the peer has seen, and who waits to see it.
final class PeerLog: Sendable {
    private struct Entry {
        let arrival = Eventual<Void>()
        let whole = Eventual<PeerRequest>()
        let isLeft = Eventual<Bool>()
        var request: PeerRequest?

        /// Lets everybody go on who waits.
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

    /// The longest wait; the runner of a case has its own limit, which is shorter as a rule.
    private static let patience = Duration.seconds(180)

    /// The requests that have arrived, in order.
    var requests: [PeerRequest] {
        state.withLock { $0.entries.compactMap(\.request) }
    }

    /// How many bytes of bodies were got rid of.
    var sentByteCount: Int { state.withLock { $0.sentByteCount } }

    /// Waits for the head of a request, counted from 0.
    func arrival(_ number: Int) async throws {
        try await entry(number).arrival.value(within: Self.patience, orSay: "request \(number) did not arrive")
    }

    /// Waits for a request with its body, where that is read.
    func request(_ number: Int) async throws -> PeerRequest {
        try await entry(number).whole.value(within: Self.patience, orSay: "request \(number) did not arrive whole")
    }

    /// Waits until the caller has given a request up.
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

    // MARK: - For the far sides

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

    /// How a request has ended; the first end counts.
    func end(_ number: Int, isLeft: Bool) {
        entry(number).isLeft.set(isLeft)
    }

    func sent(_ byteCount: Int) {
        state.withLock { $0.sentByteCount += byteCount }
    }

    /// Ends every wait, when the case is over and nobody is there any more to be told anything.
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
