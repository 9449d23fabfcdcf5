// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The running requests, each with the calls that wait for it.
final class SharedCalls: Sendable {
    typealias Joiner = PendingResult<ApiResponse>
    typealias Outcome = Result<ApiResponse, ApiConnectorError>

    /// A call's place among the calls of one request.
    struct Place {
        fileprivate let key: SharedCallKey
        fileprivate let number: Int
        fileprivate let waiter: Joiner

        /// Whether another call has sent the request.
        let isJoined: Bool

        /// The deadline of the call that sent the request.
        let deadline: Duration?

        func outcome() async -> Outcome { await waiter.result() }
    }

    private struct Call {
        let deadline: Duration?
        var waiters: [ObjectIdentifier: Joiner]
        var task: Task<Void, Never>?
    }

    private struct OpenCall {
        let number: Int
        let values: RequestValues
    }

    private enum Entry {
        case entered(Place)
        /// Calls whose values are to be compared outside the lock.
        case compare([OpenCall])
    }

    private struct State {
        var calls: [Int: Call] = [:]
        /// The requests that calls may join, with their values.
        var open: [SharedCallTarget: [OpenCall]] = [:]
        var nextNumber = 0

        mutating func remove(_ number: Int, _ key: SharedCallKey) {
            calls[number] = nil
            open[key.target]?.removeAll { $0.number == number }
            if open[key.target]?.isEmpty == true { open[key.target] = nil }
        }
    }

    private let state = Protected(State())

    /// The number of running requests.
    var count: Int { state.withLock { $0.calls.count } }

    /// Joins a running request, or sends one in a task that belongs to no caller.
    func enter(
        _ key: SharedCallKey,
        deadline: Duration?,
        _ send: @escaping @Sendable () async -> Outcome
    ) -> Place {
        let waiter = Joiner()
        var equal: Int?
        var compared: Set<Int> = []
        while true {
            let (known, seen) = (equal, compared)
            let entry = state.withLock { state -> Entry in
                let open = state.open[key.target] ?? []
                if let known, open.contains(where: { $0.number == known }), let call = state.calls[known] {
                    state.calls[known]?.waiters[ObjectIdentifier(waiter)] = waiter
                    return .entered(
                        Place(key: key, number: known, waiter: waiter, isJoined: true, deadline: call.deadline)
                    )
                }
                let new = open.filter { !seen.contains($0.number) }
                guard new.isEmpty else { return .compare(new) }
                state.nextNumber += 1
                let number = state.nextNumber
                let task = Task { finish(key, number, await send()) }
                state.calls[number] = Call(deadline: deadline, waiters: [ObjectIdentifier(waiter): waiter], task: task)
                state.open[key.target, default: []].append(OpenCall(number: number, values: key.values))
                return .entered(Place(key: key, number: number, waiter: waiter, isJoined: false, deadline: deadline))
            }
            switch entry {
            case .entered(let place): return place
            case .compare(let calls):
                equal = calls.first { $0.values == key.values }?.number
                compared.formUnion(calls.map(\.number))
            }
        }
    }

    /// Ends one call's wait.
    ///
    /// When the last call leaves, its request is canceled, and no call can join the request anymore.
    func leave(_ place: Place, because error: ApiConnectorError) {
        let abandoned = state.withLock { state in
            state.calls[place.number]?.waiters[ObjectIdentifier(place.waiter)] = nil
            guard let call = state.calls[place.number], call.waiters.isEmpty else { return nil as Task<Void, Never>? }
            state.remove(place.number, place.key)
            return call.task
        }
        place.waiter.resume(with: .failure(error))
        abandoned?.cancel()
    }

    /// Prevents calls from joining the running requests to an origin.
    ///
    /// Calls that already wait continue.
    func close(to origin: HTTPOrigin?) {
        state.withLock { state in state.open = state.open.filter { $0.key.origin != origin } }
    }

    private func finish(_ key: SharedCallKey, _ number: Int, _ outcome: Outcome) {
        let waiters = state.withLock { state in
            guard let call = state.calls[number] else { return [] as [Joiner] }
            state.remove(number, key)
            return Array(call.waiters.values)
        }
        for waiter in waiters { waiter.resume(with: outcome) }
    }
}

/// The key of identical calls, which one request can answer.
///
/// The key includes all header fields and the user info, and thus all credentials and cookies. It includes the timeouts
/// of an attempt, because all calls that share a request share its timeouts. It does not include the deadline, because
/// each call applies its own.
struct SharedCallKey {
    /// The part of the key that is compared under a lock.
    let target: SharedCallTarget
    /// The request's other values, which may change what inner providers do.
    ///
    /// The priority is one of them: a call of high priority must not wait for a call of low priority. The values can
    /// have any type. Comparing them runs the user's code, which must not run under a lock.
    let values: RequestValues

    init(_ request: ApiRequest) {
        target = SharedCallTarget(request)
        // The request has no body to upload.
        var request = request
        request.uploadProgress = nil
        values = request.values
    }
}

/// The part of the key that has no values of the user's types.
struct SharedCallTarget: Hashable {
    private let method: HTTPMethod
    let origin: HTTPOrigin?
    private let path: String
    private let query: String?
    private let userInfo: [String?]
    private let fields: [String: [String]]
    private let delivery: ResponseDelivery
    private let limits: [Duration?]
    /// Test doubles encode canned values with the request's coders.
    private let coders: [ObjectIdentifier?]
    /// An inner provider may add a credential for the connection's own origin only.
    private let isToOwnOrigin: Bool?
    /// An inner provider may add a secret to only one of the calls.
    private let withholdsCredentials: Bool
    /// The scale of deadlines.
    private let scale: ObjectIdentifier

    init(_ request: ApiRequest) {
        method = request.method
        origin = HTTPOrigin(request.url)
        path = request.url.path(percentEncoded: true)
        query = request.url.query(percentEncoded: true)
        userInfo = [request.url.user(percentEncoded: true), request.url.password(percentEncoded: true)]
        fields = Dictionary(grouping: request.headers) { $0.name.rawValue.lowercased() }.mapValues { $0.map(\.value) }
        delivery = request.delivery
        limits = [request.timeouts.attempt, request.timeouts.stall]
        coders = [request.encoder.map { ObjectIdentifier($0) }, request.decoder.map { ObjectIdentifier($0) }]
        isToOwnOrigin = request.isToOwnOrigin
        withholdsCredentials = request.withholdsCredentials
        scale = request.timeSource.scale
    }
}

extension ApiRequest {
    /// Whether its response may also answer another call: the request is safe, and its body can be read more than once.
    var isShareable: Bool {
        (method == .get || method == .head) && body.isEmpty && delivery != .streamed && headers.refused.isEmpty
    }
}
