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

    static func start(watching soak: Soak) {
        let thread = Thread {
            var (last, silentSince) = (0, 0)
            for second in 1... {
                sleep(1)
                let ended = soak.endedCount.load(ordering: .relaxed)
                if ended != last { (last, silentSince) = (ended, second) }
                if second.isMultiple(of: 10) { print("\(second) s: \(ended) calls have ended") }
                fflush(nil)
                if second - silentSince > silence {
                    print("error: hanging: \(ended) calls have ended, none of them within the last \(silence) seconds")
                    exit(1)
                }
                if second > limit {
                    print("error: only \(ended) calls have ended within \(limit) seconds; the machine may be busy")
                    exit(1)
                }
            }
        }
        thread.start()
    }
}
#endif
