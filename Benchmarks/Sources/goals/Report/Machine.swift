// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The machine on which the goals are measured.
enum Machine {
    /// Cores, processor, system and relevant versions, on one line.
    static var description: String {
        let processor = line(of: "/proc/cpuinfo", beginning: "model name") ?? "an unknown processor"
        let system = line(of: "/etc/os-release", beginning: "PRETTY_NAME")?.replacing("\"", with: "") ?? "Linux"
        let parts = [
            "\(ProcessInfo.processInfo.activeProcessorCount) cores of \(processor)",
            system,
            swiftVersion,
            curlVersion,
            nginxVersion,
            "async-http-client 1.37",
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }

    private static func line(of file: String, beginning name: String) -> String? {
        let text = try? String(contentsOfFile: file, encoding: .utf8)
        let line = text?.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: #/\s*[:=]\s*/#, maxSplits: 1).last.map(String.init)
    }

    private static var swiftVersion: String? {
        let text = try? Program.output(of: "swift --version 2>/dev/null")
        return text?.firstMatch(of: #/Swift version [0-9.]+/#).map { String($0.0.replacing(" version", with: "")) }
    }

    private static var nginxVersion: String? {
        let text = try? Program.output(of: "PATH=$PATH:/usr/sbin nginx -v 2>&1")
        return text?.firstMatch(of: #/nginx/([0-9.]+)/#).map { "nginx \($0.1)" }
    }

    private static var curlVersion: String? {
        guard let symbol = dlsym(nil, "curl_version") else { return nil }
        typealias Version = @convention(c) () -> UnsafePointer<CChar>?
        // The declaration in libcurl's header: const char *curl_version(void).
        let text = unsafeBitCast(symbol, to: Version.self)().map { String(cString: $0) }
        return text?.split(separator: " ").first.map { String($0.replacing("/", with: " ")) }
    }
}
