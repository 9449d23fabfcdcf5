// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The memory and threads of this process, as the kernel counts them.
enum ProcessMemory {
    /// The memory in use now, in bytes.
    static var resident: Int { status("VmRSS") * 1024 }

    /// The peak memory in bytes.
    static var peak: Int { status("VmHWM") * 1024 }

    /// The number of threads.
    static var threadCount: Int { status("Threads") }

    private static func status(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    /// Raises the limit of descriptors to the system's maximum.
    static func raiseDescriptorLimit() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
