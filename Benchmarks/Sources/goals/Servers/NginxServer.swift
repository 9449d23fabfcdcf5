// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Synchronization

/// nginx on a free port of 127.0.0.1, one worker, with everything that it writes in a temporary folder.
final class NginxServer: Sendable {
    /// What a small GET brings: 46 bytes.
    static let smallBody = #"{"id":42,"title":"Forty-six bytes, no more.."}"#

    let port: Int
    private let folder: URL
    /// The shell that ends nginx as soon as nobody writes to it any more, even where this process is killed.
    ///
    /// It does not wait for it: started on a thread of the task pool, it has every signal blocked and would not hear of
    /// the end.
    private let shell: Mutex<Shell?>

    private struct Shell: @unchecked Sendable {  // a FILE, used under the lock only
        let stream: UnsafeMutablePointer<FILE>
    }

    init() throws {
        let program = try Self.program()
        port = try Self.freePort()
        folder = FileManager.default.temporaryDirectory.appending(path: "apiconnector-goals-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let configuration = folder.appending(path: "nginx.conf")
        try Self.configuration(folder: folder.path, port: port).write(
            to: configuration,
            atomically: true,
            encoding: .utf8
        )
        let start = "\(program) -p \(Program.quoted(folder.path)) -c \(Program.quoted(configuration.path))"
        guard let stream = popen("\(start) 2>/dev/null & child=$!; read -r _; kill $child", "w") else {
            throw Program.Failure(command: start, status: -1, output: "it cannot be started")
        }
        shell = Mutex(Shell(stream: stream))
        guard Self.answers(on: port) else {
            stop()
            throw Program.Failure(command: start, status: -1, output: "it does not answer")
        }
    }

    deinit { stop() }

    /// The URL of a path.
    func url(_ path: String) -> URL {
        URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(filePath: path)
    }

    /// Makes a file that nginx serves: its bytes are a counter, eight bytes each, so that every byte can be checked.
    func makeFile(_ name: String, byteCount: Int) throws {
        let file = folder.appending(path: name)
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        let blockCount = 1 << 17
        var block = [UInt64](repeating: 0, count: blockCount)
        for start in stride(from: 0, to: byteCount / 8, by: blockCount) {
            for index in 0..<blockCount { block[index] = UInt64(start + index) }
            try handle.write(contentsOf: block.withUnsafeBytes { Data($0) })
        }
    }

    func stop() {
        guard let shell = shell.withLock({ $0.take() }) else { return }
        pclose(shell.stream)
        try? FileManager.default.removeItem(at: folder)
    }

    private static func program() throws -> String {
        for path in ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx", "/usr/local/bin/nginx"]
        where FileManager.default.isExecutableFile(atPath: path) {
            return path
        }
        throw MissingProgram(
            description: "goals: nginx is missing. Run 'Scripts/setup nginx' from the repository's root."
        )
    }

    private static func configuration(folder: String, port: Int) -> String {
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        return """
            \(getuid() == 0 ? "user root;" : "")
            worker_processes 1;
            worker_rlimit_nofile 4096;
            daemon off;
            pid \(folder)/nginx.pid;
            error_log \(folder)/error.log crit;
            events { worker_connections 2048; }
            http {
                access_log off;
                sendfile on;
                keepalive_requests 1000000000;
                keepalive_timeout 600s;
                \(paths.map { "\($0)_temp_path \(folder)/\($0);" }.joined(separator: " "))
                server {
                    listen 127.0.0.1:\(port) backlog=2048;
                    root \(folder);
                    location = /small { default_type application/json; return 200 '\(smallBody)'; }
                }
            }
            """
    }

    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
        }
        guard isBound else { throw Program.Failure(command: "bind", status: errno, output: "no port is free") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private static func answers(on port: Int) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        for _ in 0..<200 {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            let isConnected = withUnsafeBytes(of: &address) { bytes in
                connect(
                    descriptor,
                    bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
                    socklen_t(MemoryLayout<sockaddr_in>.size)
                ) == 0
            }
            if isConnected { return true }
            usleep(25_000)
        }
        return false
    }
}
