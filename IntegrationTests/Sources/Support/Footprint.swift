// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import Foundation

/// The resources of this process that a leak would increase.
public struct Footprint: CustomStringConvertible, Sendable {
    private let memory: Int
    private let descriptorCount: Int
    private let threadCount: Int

    /// Measures the current process.
    public init() throws {
        let statistics = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        memory = (Int(statistics[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
        descriptorCount = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        threadCount = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }

    /// The memory, descriptors and threads as text.
    public var description: String {
        "\(memory >> 20) MiB of memory, \(descriptorCount) descriptors, \(threadCount) threads"
    }

    /// The growth that does not count as a leak.
    public struct Tolerance: Sendable {
        let memoryByteCount: Int
        let descriptorCount: Int
        let threadCount: Int

        /// Makes a tolerance.
        ///
        /// By default it includes two threads, because the pool may start threads at any time.
        public init(memoryByteCount: Int, descriptorCount: Int, threadCount: Int = 2) {
            self.memoryByteCount = memoryByteCount
            self.descriptorCount = descriptorCount
            self.threadCount = threadCount
        }
    }

    /// Waits up to five seconds until the footprint is within the tolerance.
    ///
    /// Canceled calls close their connections a little later.
    ///
    /// - Returns: The footprint, and the resources that still exceed the tolerance.
    public static func settled(
        near earlier: Footprint,
        _ tolerance: Tolerance
    ) async throws -> (footprint: Footprint, excess: [String]) {
        for _ in 0..<100 {
            let now = try Footprint()
            if now.excess(over: earlier, tolerance).isEmpty { return (now, []) }
            try await Task.sleep(for: .milliseconds(50))
        }
        let now = try Footprint()
        return (now, now.excess(over: earlier, tolerance))
    }

    private func excess(over earlier: Footprint, _ tolerance: Tolerance) -> [String] {
        var excess: [String] = []
        if memory > earlier.memory + tolerance.memoryByteCount {
            excess.append("memory has grown by \((memory - earlier.memory) >> 20) MiB")
        }
        if descriptorCount > earlier.descriptorCount + tolerance.descriptorCount {
            excess.append("\(descriptorCount - earlier.descriptorCount) descriptors more than before")
        }
        if threadCount > earlier.threadCount + tolerance.threadCount {
            excess.append("\(threadCount - earlier.threadCount) threads more than before")
        }
        return excess
    }

    /// The number of threads with a name.
    public static func threadCount(named name: String) -> Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.count { task in
            let text = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
            return text?.hasPrefix(name) == true
        }
    }
}
#endif
