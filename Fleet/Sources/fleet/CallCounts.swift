// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTraffic
import Foundation

/// The results of a process's calls.
struct CallCounts: Codable, Sendable {
    var successCount = 0
    /// The number of calls that ended at a deadline shorter than a second, or that needed a refresh while the shared
    /// state was unavailable.
    var lateCount = 0
    var failures: [String] = []
    /// The duration of the longest call in seconds.
    var longestCall = 0.0
    /// The longest time in seconds by which a call ended after its deadline.
    var longestExcess = 0.0

    static func + (one: CallCounts, other: CallCounts) -> CallCounts {
        CallCounts(
            successCount: one.successCount + other.successCount,
            lateCount: one.lateCount + other.lateCount,
            failures: one.failures + other.failures,
            longestCall: max(one.longestCall, other.longestCall),
            longestExcess: max(one.longestExcess, other.longestExcess)
        )
    }

    mutating func add(_ other: CallCounts) {
        self = self + other
    }
}

extension CallCounts {
    /// Sends a call.
    ///
    /// - Parameter limit: The time until the call's deadline.
    /// - Returns: The result; nil if the backend expects no more calls.
    static func ofCall(
        to url: URL,
        over provider: some DataRequestType,
        within limit: Duration
    ) async -> CallCounts? {
        var request = ApiRequest(url: url, headers: ["X-Process": "\(getpid())"])
        let start = request.timeSource.now
        request.deadline = start + limit
        var counts = CallCounts()
        do throws(ApiConnectorError) {
            let response = try await provider.response(for: request)
            _ = try await response.body.collect(upTo: 100)
            switch response.status {
            // The token may already have expired again.
            case 200, 401: counts.successCount = 1
            case 410: return nil
            default: counts.failures = ["the call was answered with \(response.status.rawValue)"]
            }
        } catch {
            let cause = (error.underlying as? ApiConnectorError)?.kind
            if error.kind == .deadlineExceeded && limit < .seconds(1) || cause == .sharedStateUnavailable {
                counts.lateCount = 1
            } else {
                counts.failures = ["\(error)"]
            }
        }
        let time = request.timeSource.now - start
        counts.longestCall = time / .seconds(1)
        counts.longestExcess = max((time - limit) / .seconds(1), 0)
        return counts
    }

    /// Reads the counts that a process has printed; if there are none, adds a problem.
    static func of(
        _ end: (signal: Int32, status: Int32, text: String),
        problems: inout [String]
    ) -> CallCounts {
        if end.signal == 0, end.status == 0,
            let counts = try? JSONDecoder().decode(CallCounts.self, from: Data(end.text.utf8))
        {
            return counts
        }
        problems.append("a process ended with signal \(end.signal), status \(end.status): \(end.text)")
        return CallCounts()
    }

    /// Prints the counts, as the last action of a process.
    func write() throws {
        print(String(decoding: try JSONEncoder().encode(self), as: UTF8.self))
    }

    /// Prints the longest times, and returns a problem if a call ended long after its deadline.
    func judgeTimes() -> [String] {
        print("  longest call \(longestCall.text) s, longest time after a deadline \(longestExcess.text) s")
        // One second is allowed, because a busy machine may itself be late.
        return longestExcess > 1 ? ["a call ended \(longestExcess.text) s after its deadline"] : []
    }
}

extension Double {
    /// The number with two decimals.
    var text: String { String(format: "%.2f", self) }
}
