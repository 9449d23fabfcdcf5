// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// Refreshable credentials against a model, over random interleavings of calls, answers, refreshes that end well or
/// not, cancels, sign-outs, sign-ins and steps of the clock.
@Suite(.timeLimit(.minutes(10))) struct RefreshModelTests {}

extension RefreshModelTests {
    @Test func everyCallIsAnsweredOnceAndRefreshesNeverOverlap() async throws {
        await SplitMix64.runs(max(SplitMix64.caseCount / 10, 1)) { random in try await interleave(using: &random) }
    }

    private func interleave(using random: inout SplitMix64) async throws {
        let world = World()
        var calls: [Task<Void, Never>] = []
        for _ in 0..<Int.random(in: 5...30, using: &random) {
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<4:
                let number = calls.count
                world.started(number)
                calls.append(Task { await world.call(number) })
            case 4..<7:
                world.answer(using: &random)
            case 7..<9:
                world.endRefresh(using: &random)
            case 9:
                calls.randomElement(using: &random)?.cancel()
            case 10:
                world.clock.advance(by: .seconds(Int.random(in: 1...40, using: &random)))
            default:
                if Bool.random(using: &random) {
                    world.session.signOut()
                } else {
                    world.session.signIn(world.credential())
                }
            }
            // Tasks that can go on may or may not have done so when the next thing happens.
            for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
        }
        // From here on the server is well: every task that still waits has to end.
        world.calmDown()
        for call in calls { await call.value }
        #expect(world.problems == [])
        #expect(world.waiting == 0)
        #expect(world.answers.count == calls.count)
        #expect(world.answers.values.allSatisfy { $0 == 1 })
    }
}

/// Clock, server, refresh and calls of one run, and what they must keep to.
private final class World: Sendable {
    private typealias Answer = CheckedContinuation<HTTPStatus, Never>
    private typealias Refreshed = CheckedContinuation<Bool, Never>

    private struct State {
        var requests: [Int: (token: Int, answer: Answer)] = [:]
        var refreshes: [Int: Refreshed] = [:]
        var nextNumber = 0
        var lastToken = 0
        /// The newest version that was refused.
        var refused = 0
        var runningRefreshCount = 0
        var isCalm = false
        var answers: [Int: Int] = [:]
        var problems: [String] = []
    }

    let clock = ManualClock()
    private let state = Locked(State())
    private let sessionBox = Locked<RefreshableCredentials?>(nil)

    var problems: [String] { state.withLock { $0.problems } }
    var answers: [Int: Int] { state.withLock { $0.answers } }
    var waiting: Int { state.withLock { $0.requests.count + $0.refreshes.count } }

    var session: RefreshableCredentials {
        sessionBox.withLock { session in
            if let session { return session }
            let new = RefreshableCredentials(
                credential(),
                limit: RefreshableCredentials.Limit(3, within: .seconds(20)),
                timeLimit: .seconds(60),
                timeSource: clock
            ) { [weak self] _ in
                guard let self else { throw CancellationError() }
                return try await refresh()
            }
            session = new
            return new
        }
    }

    /// A new credential, some of them short-lived.
    func credential() -> ApiCredential {
        let number = state.withLock { state in
            state.lastToken += 1
            return state.lastToken
        }
        let expiry = number.isMultiple(of: 3) ? clock.date.addingTimeInterval(45) : nil
        return .bearer("\(number)", until: expiry)
    }

    func started(_ call: Int) {
        state.withLock { $0.answers[call] = 0 }
    }

    func call(_ number: Int) async {
        do throws(ApiConnectorError) {
            let response = try await provider.response(for: request)
            if response.status != 200, response.status != 401 { problem("status \(response.status)") }
        } catch {
            if error.kind != .credentialsUnavailable, error.kind != .cancelled { problem("\(error)") }
        }
        state.withLock { $0.answers[number, default: 0] += 1 }
    }

    private var request: ApiRequest {
        ApiRequest(url: URL(string: "http://localhost/") ?? URL(filePath: "/"))
    }

    private var provider: some DataRequestType {
        let scope = CredentialScope.origins(URL(string: "http://localhost/") ?? URL(filePath: "/"))
        return Held(world: self).authenticating(by: Guarded(world: self, session: session), for: scope)
    }

    private func problem(_ text: String) {
        state.withLock { $0.problems.append(text) }
    }

    // MARK: The server

    /// Holds each request until the test answers it.
    fileprivate struct Held: DataRequestType {
        let world: World

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            guard let shown = request.headers[.authorization], let token = Int(shown.dropFirst(7)) else {
                throw ApiConnectorError(.other, "sent without a credential")
            }
            if Task.isCancelled { throw .cancelled(request) }
            return ApiResponse(to: request, status: await world.hold(token))
        }
    }

    /// Records the credentials and reports of the session.
    fileprivate struct Guarded: CredentialSource {
        let world: World
        let session: RefreshableCredentials

        func credential(for request: ApiRequest) async throws(ApiConnectorError) -> ApiCredential? {
            let refused = world.refusedVersion
            let credential = try await session.credential(for: request)
            if let credential, credential.version < refused {
                world.problem("version \(credential.version) was given when \(refused) was known to be refused")
            }
            return credential
        }

        func refuse(_ credential: ApiCredential) {
            session.refuse(credential)
            world.state.withLock { $0.refused = max($0.refused, credential.version) }
        }
    }

    private var refusedVersion: Int { state.withLock { $0.refused } }

    private func hold(_ token: Int) async -> HTTPStatus {
        await withCheckedContinuation { continuation in
            let isCalm = state.withLock { state in
                guard !state.isCalm else { return true }
                state.nextNumber += 1
                state.requests[state.nextNumber] = (token, continuation)
                return false
            }
            if isCalm { continuation.resume(returning: 200) }
        }
    }

    func answer(using random: inout SplitMix64) {
        let isRefusal = Bool.random(using: &random)
        let pick = random.next()
        let held = state.withLock { state in
            let numbers = state.requests.keys.sorted()
            guard !numbers.isEmpty else { return nil as Answer? }
            return state.requests.removeValue(forKey: numbers[Int(pick % UInt64(numbers.count))])?.answer
        }
        held?.resume(returning: isRefusal ? 401 : 200)
    }

    // MARK: The refresh

    private struct RefreshFailed: Error {}

    /// Heeds its cancel, as a refresh over any provider does.
    private func refresh() async throws -> ApiCredential {
        let number = state.withLock { state in
            state.nextNumber += 1
            state.runningRefreshCount += 1
            if state.runningRefreshCount > 1 { state.problems.append("two refreshes at a time") }
            return state.nextNumber
        }
        let isGood = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let early = state.withLock { state in
                    if Task.isCancelled { return false as Bool? }
                    if state.isCalm { return true }
                    state.refreshes[number] = continuation
                    return nil
                }
                if let early {
                    ended()
                    continuation.resume(returning: early)
                }
            }
        } onCancel: {
            end(number, well: false)
        }
        guard isGood else { throw RefreshFailed() }
        return credential()
    }

    private func ended() {
        state.withLock { $0.runningRefreshCount -= 1 }
    }

    private func end(_ number: Int, well isGood: Bool) {
        let held = state.withLock { state in
            let held = state.refreshes.removeValue(forKey: number)
            if held != nil { state.runningRefreshCount -= 1 }
            return held
        }
        held?.resume(returning: isGood)
    }

    func endRefresh(using random: inout SplitMix64) {
        let isGood = Bool.random(using: &random)
        guard let number = state.withLock({ $0.refreshes.keys.first }) else { return }
        end(number, well: isGood)
    }

    func calmDown() {
        let (requests, refreshes) = state.withLock { state in
            state.isCalm = true
            defer { state.requests = [:] }
            return (state.requests.values.map(\.answer), Array(state.refreshes.keys))
        }
        for request in requests { request.resume(returning: 200) }
        for refresh in refreshes { end(refresh, well: true) }
    }
}
