// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import Foundation
import Synchronization

/// Ends the process if no call ends for too long, or if the run takes too long.
enum Watchdog {
    /// The longest time without the end of a call, in seconds.
    private static let silence = 20
    /// The longest duration of a run, in seconds.
    private static let limit = 290

    /// - Parameters:
    ///   - interval: The time between two lines about the progress, in seconds; 10 by default.
    ///   - endedCount: Returns the number of calls that have ended.
    ///   - openCalls: Returns a line for each call that is open; none by default.
    static func start(
        reportingEvery interval: Int = 10,
        endedCount: @escaping @Sendable () -> Int,
        openCalls: @escaping @Sendable () -> [String] = { [] }
    ) {
        @Sendable func fail(_ problem: String) -> Never {
            for call in openCalls() { print("open: \(call)") }
            print("error: \(problem)")
            exit(1)
        }
        let thread = Thread {
            var (last, silentSince) = (0, 0)
            for second in 1... {
                sleep(1)
                let ended = endedCount()
                if ended != last { (last, silentSince) = (ended, second) }
                if second.isMultiple(of: interval) { print("\(second) s: \(ended) calls have ended") }
                fflush(nil)
                if second - silentSince > silence {
                    fail("hanging: \(ended) calls have ended, none of them within the last \(silence) seconds")
                }
                if second > limit {
                    fail("only \(ended) calls have ended within \(limit) seconds; the machine may be busy")
                }
            }
        }
        thread.start()
    }
}
#endif
