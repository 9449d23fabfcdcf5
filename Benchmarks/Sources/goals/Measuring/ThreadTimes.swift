// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The running and waiting times of each thread of this process, from the kernel's scheduler.
struct ThreadTimes {
    /// A thread's shares of a period.
    struct Share: Codable, Sendable {
        /// The share of the time in which the thread runs.
        let running: Double
        /// The share of the time in which the thread waits for a core.
        ///
        /// The rest is the share in which the thread sleeps.
        let waiting: Double
    }

    private struct Seconds {
        let running: Double
        let waiting: Double
    }

    private let secondsByThread: [Int: Seconds]

    static var now: ThreadTimes {
        let folder = "/proc/self/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        var seconds: [Int: Seconds] = [:]
        for thread in threads.compactMap(Int.init) {
            let text = try? String(contentsOfFile: "\(folder)/\(thread)/schedstat", encoding: .utf8)
            // The fields are the nanoseconds of running, the nanoseconds of waiting for a core, and the number of time
            // slices.
            let fields = (text ?? "").split(separator: " ").compactMap { Double($0) }
            guard fields.count > 1 else { continue }
            seconds[thread] = Seconds(running: fields[0] * 1e-9, waiting: fields[1] * 1e-9)
        }
        return ThreadTimes(secondsByThread: seconds)
    }

    /// The shares of each thread since an earlier time, sorted by running time, longest first.
    func shares(since earlier: ThreadTimes, seconds: Double) -> [Share] {
        secondsByThread.map { thread, time in
            let before = earlier.secondsByThread[thread] ?? Seconds(running: 0, waiting: 0)
            return Share(
                running: (time.running - before.running) / seconds,
                waiting: (time.waiting - before.waiting) / seconds
            )
        }
        .sorted { $0.running > $1.running }
    }
}
