// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import NIOHTTP1
import Synchronization

/// The server of a session.
///
/// It rotates refresh tokens, lets access tokens expire, and kills processes during a refresh.
///
/// The session's tokens are the session's number, which increases with each refresh.
final class TokenServer: Sendable {
    struct Counts {
        var callCount = 0
        var expiryCount = 0
        var refreshCount = 0
        /// The number of refreshes of a token that had not expired.
        var needlessCount = 0
        /// How often a token was used again after the process that had refreshed it was killed, and before any process
        /// used the new token.
        ///
        /// The killed process has probably not stored the new token. The server cannot know that.
        var repeatCount = 0
        /// How often a token was used again without such a reason.
        ///
        /// A real server would then revoke the session.
        var reuseCount = 0
        var killedBeforeCount = 0
        var killedAfterCount = 0
        var killedAnyTimeCount = 0
        /// The processes whose calls were refused because the token had expired.
        var refusedProcesses: Set<pid_t> = []
    }

    /// When the process that refreshes the session is killed.
    private enum Kill {
        case before, after, never
    }

    private struct State {
        var number = 0
        var isExpired = false
        /// Whether tokens do not expire for now.
        var isHeld = false
        var useCount = 0
        /// The processes that have used the current token.
        var users: Set<pid_t> = []
        /// The process that refreshed the session last.
        var maker: pid_t?
        var killed: Set<pid_t> = []
        /// The kills in the next refreshes.
        var kills: [Kill] = []
        var counts = Counts()
    }

    private let expiryCount: Int
    private let killShare: Int
    private let processCount: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - expiryCount: How often the access token expires.
    ///   - killShare: In each group of this number of refreshes, the server kills one process before its answer and
    ///     one after its answer; 0 kills none.
    ///   - processCount: A refresh is answered only after calls of this number of processes were refused.
    init(expiryCount: Int, killShare: Int, processCount: Int) {
        self.expiryCount = expiryCount
        self.killShare = killShare
        self.processCount = processCount
    }

    var counts: Counts { state.withLock { $0.counts } }

    /// Whether all expiries are over.
    var isDone: Bool { state.withLock { $0.counts.expiryCount == expiryCount && !$0.isExpired } }

    /// Whether the token has expired.
    var isExpired: Bool { state.withLock { $0.isExpired } }

    /// Whether no process has to refresh: the token cannot expire, and a number of processes have used it.
    func isQuiet(for processCount: Int) -> Bool {
        state.withLock { $0.isHeld && !$0.isExpired && $0.users.count == processCount }
    }

    /// Lets tokens expire only after ``resumeExpiries()``.
    func holdExpiries() {
        state.withLock { $0.isHeld = true }
    }

    func resumeExpiries() {
        state.withLock { $0.isHeld = false }
    }

    /// Kills a process that this server has not killed.
    func kill(_ process: pid_t) {
        state.withLock { state in
            guard state.killed.insert(process).inserted else { return }
            state.counts.killedAnyTimeCount += 1
            Foundation.kill(process, SIGKILL)
        }
    }

    func answer(to question: Backend.Question) -> Backend.Answer? {
        let process = question.process
        switch question.path {
        case "/call":
            let token = question.fields.first(name: "Authorization")?.split(separator: " ").last.flatMap { Int($0) }
            return answer(toCallWith: token, by: process)
        case "/refresh":
            let token = question.fields.first(name: "X-Refresh-Token").flatMap { Int($0) }
            guard let token, let process, process > 1 else { return Backend.Answer(status: .badRequest) }
            return answer(toRefreshOf: token, by: process)
        default: return Backend.Answer(status: .notFound)
        }
    }

    private func answer(toCallWith token: Int?, by process: pid_t?) -> Backend.Answer {
        state.withLock { state in
            guard token == state.number, !state.isExpired else {
                if let process { state.counts.refusedProcesses.insert(process) }
                return Backend.Answer(status: .unauthorized)
            }
            if state.counts.expiryCount == expiryCount { return Backend.Answer(status: .gone) }
            state.counts.callCount += 1
            state.useCount += 1
            if let process { state.users.insert(process) }
            if state.useCount >= 20, !state.isHeld {
                state.isExpired = true
                state.counts.expiryCount += 1
            }
            return Backend.Answer()
        }
    }

    private func answer(toRefreshOf token: Int, by process: pid_t) -> Backend.Answer? {
        state.withLock { state in
            // A server cannot know that the process was killed. A real one would revoke the session.
            if token == state.number - 1, state.users.isEmpty, state.maker.map(state.killed.contains) == true {
                state.counts.repeatCount += 1
                state.maker = process
                return Backend.Answer(text: "\(state.number)")
            }
            guard token == state.number else {
                state.counts.reuseCount += 1
                return Backend.Answer(status: .badRequest)
            }
            // The request may be from a process that was killed after it sent the request.
            let kill = state.killed.contains(process) ? .never : nextKill(&state)
            if kill == .before {
                state.counts.killedBeforeCount += 1
                state.killed.insert(process)
                Foundation.kill(process, SIGKILL)
                return nil
            }
            if !state.isExpired { state.counts.needlessCount += 1 }
            state.number += 1
            state.isExpired = false
            state.useCount = 0
            state.users = []
            state.maker = process
            state.counts.refreshCount += 1
            guard kill == .after else {
                return Backend.Answer(text: "\(state.number)") { [self] in counts.refusedProcesses.count < processCount
                }
            }
            state.counts.killedAfterCount += 1
            state.killed.insert(process)
            return Backend.Answer(text: "\(state.number)", isHeld: nil) {
                // The kill comes before, while or after the process stores the session.
                usleep(.random(in: 0...2000))
                Foundation.kill(process, SIGKILL)
            }
        }
    }

    private func nextKill(_ state: inout State) -> Kill {
        guard killShare > 1 else { return .never }
        if state.kills.isEmpty {
            state.kills = ([.before, .after] + Array(repeating: .never, count: killShare - 2)).shuffled()
        }
        return state.kills.removeLast()
    }
}
