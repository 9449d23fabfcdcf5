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
        /// How often a token was used again because the process that had refreshed it was killed before it stored the
        /// new token.
        var repeatCount = 0
        /// How often a token was used again without such a reason.
        ///
        /// A real server would then revoke the session.
        var reuseCount = 0
        var killedBeforeCount = 0
        var killedAfterCount = 0
        /// The processes whose calls were refused because the token had expired.
        var refusedProcesses: Set<pid_t> = []
    }

    private struct State {
        var number = 0
        var isExpired = false
        var useCount = 0
        /// Whether the process that refreshed the session last was killed.
        var isMakerKilled = false
        var counts = Counts()
    }

    private let expiryCount: Int
    private let killShare: Int
    private let processCount: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - expiryCount: How often the access token expires.
    ///   - killShare: In this number of refreshes, on average one process is killed before the answer, and one after
    ///     the answer; 0 kills none.
    ///   - processCount: A refresh is answered only after calls of this number of processes were refused.
    init(expiryCount: Int, killShare: Int, processCount: Int) {
        self.expiryCount = expiryCount
        self.killShare = killShare
        self.processCount = processCount
    }

    var counts: Counts { state.withLock { $0.counts } }

    /// Whether all expiries are over.
    var isDone: Bool { state.withLock { $0.counts.expiryCount == expiryCount && !$0.isExpired } }

    func answer(to question: Backend.Question) -> Backend.Answer? {
        let process = question.fields.first(name: "X-Process").flatMap { pid_t($0) }
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
            if state.useCount >= 20 {
                state.isExpired = true
                state.counts.expiryCount += 1
            }
            return Backend.Answer()
        }
    }

    private func answer(toRefreshOf token: Int, by process: pid_t) -> Backend.Answer? {
        state.withLock { state in
            if token == state.number - 1, state.isMakerKilled {
                state.counts.repeatCount += 1
                state.isMakerKilled = false
                return Backend.Answer(text: "\(state.number)")
            }
            guard token == state.number else {
                state.counts.reuseCount += 1
                return Backend.Answer(status: .badRequest)
            }
            let lot = killShare > 0 ? Int.random(in: 0..<killShare) : -1
            if lot == 0 {
                state.counts.killedBeforeCount += 1
                kill(process, SIGKILL)
                return nil
            }
            if !state.isExpired { state.counts.needlessCount += 1 }
            state.number += 1
            state.isExpired = false
            state.useCount = 0
            state.isMakerKilled = lot == 1
            state.counts.refreshCount += 1
            guard lot == 1 else {
                return Backend.Answer(text: "\(state.number)") { [self] in counts.refusedProcesses.count < processCount
                }
            }
            state.counts.killedAfterCount += 1
            return Backend.Answer(text: "\(state.number)", isHeld: nil) {
                // The kill comes before, while or after the process stores the session.
                usleep(.random(in: 0...2000))
                kill(process, SIGKILL)
            }
        }
    }
}
