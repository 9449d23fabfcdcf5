// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector

/// The file descriptors, threads and memory of this process, to detect leaks.
struct ProcessFootprint: CustomStringConvertible {
    private var descriptorCount: Int
    private var threadCount: Int
    private var byteCount: Int

    init() throws {
        descriptorCount = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        threadCount = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        byteCount = (Int(pages[1]) ?? 0) * 4096
    }

    var description: String { "\(descriptorCount) descriptors, \(threadCount) threads, \(byteCount) bytes" }

    func adding(descriptors: Int, threads: Int, byteCount: Int) -> ProcessFootprint {
        var sum = self
        sum.descriptorCount += descriptors
        sum.threadCount += threads
        sum.byteCount += byteCount
        return sum
    }

    /// Whether nothing is more; bytes count in release only, for a sanitizer keeps what was freed.
    func isWithin(_ other: ProcessFootprint) -> Bool {
        #if DEBUG
        let hasFewBytes = true
        #else
        let hasFewBytes = byteCount <= other.byteCount
        #endif
        return descriptorCount <= other.descriptorCount && threadCount <= other.threadCount && hasFewBytes
    }
}
#endif
