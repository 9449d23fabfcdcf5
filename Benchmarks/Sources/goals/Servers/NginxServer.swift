// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Synchronization
import SystemBundle

/// An nginx on free ports of 127.0.0.1.
///
/// All of its files are in a temporary folder.
final class NginxServer: Sendable {
    /// The body of a small GET: 46 bytes.
    static let smallBody = #"{"id":42,"title":"Forty-six bytes, no more.."}"#

    let port: Int
    /// The port for HTTP/2 without TLS, by prior knowledge.
    let priorKnowledgePort: Int
    /// The port for TLS 1.3 and HTTP/1.1, with connections that are kept alive.
    let securePort: Int
    /// The port for TLS 1.3 and HTTP/1.1 on which the server closes each connection after one response.
    let closingPort: Int
    /// The port for TLS 1.3 and HTTP/2.
    ///
    /// A request over HTTP/1.1 gets the status 505.
    let multiplexedPort: Int
    /// The environment of a child process in which every client trusts the server by default.
    let trustingEnvironment: [String: String]
    private let folder: URL
    /// The shell that ends nginx when its input is closed, even if this process is killed.
    ///
    /// The shell does not wait for nginx. It is started on a thread of the task pool, which blocks every signal. So the
    /// shell also blocks every signal, and would miss the end of nginx.
    private let shell: Mutex<Shell?>

    private struct Shell: @unchecked Sendable {  // a FILE, only used under the lock
        let stream: UnsafeMutablePointer<FILE>
    }

    /// - Parameter workerCount: The number of worker processes; one by default.
    init(workerCount: Int = 1) throws {
        let program = try Self.program()
        let ports = try Self.freePorts(5)
        (port, securePort, closingPort, multiplexedPort) = (ports[0], ports[1], ports[2], ports[3])
        priorKnowledgePort = ports[4]
        folder = FileManager.default.temporaryDirectory.appending(path: "apiconnector-goals-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        trustingEnvironment = [SYSTEM_BUNDLE_VARIABLE: try Certificate.make(in: folder).path]
        let configuration = folder.appending(path: "nginx.conf")
        try Self.configuration(folder: folder.path, ports: ports, workerCount: workerCount).write(
            to: configuration,
            atomically: true,
            encoding: .utf8
        )
        let start = "\(program) -p \(Program.quoted(folder.path)) -c \(Program.quoted(configuration.path))"
        guard let stream = popen("\(start) 2>/dev/null & child=$!; read -r _; kill $child", "w") else {
            throw Program.Failure(command: start, status: -1, output: "the program cannot be started")
        }
        shell = Mutex(Shell(stream: stream))
        guard ports.allSatisfy(Self.answers) else {
            stop()
            throw Program.Failure(command: start, status: -1, output: "nginx does not answer")
        }
    }

    deinit { stop() }

    /// The URL of a path.
    ///
    /// - Parameter isMultiplexed: Whether the URL is for HTTP/2 by prior knowledge; by default it is for HTTP/1.1.
    func url(_ path: String, isMultiplexed: Bool = false) -> URL {
        let port = isMultiplexed ? priorKnowledgePort : port
        return URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(filePath: path)
    }

    /// The URL of a path over TLS, on one of the ports with TLS.
    func secureURL(_ path: String, port: Int) -> URL {
        URL(string: "https://127.0.0.1:\(port)\(path)") ?? URL(filePath: path)
    }

    /// The local URL of a file that nginx serves under the file's name.
    ///
    /// The file is made on first use.
    func counterFile(byteCount: Int) throws -> URL {
        let name = "counter-\(byteCount)"
        let file = folder.appending(path: name)
        if !FileManager.default.fileExists(atPath: file.path) { try makeFile(name, byteCount: byteCount) }
        return file
    }

    /// Makes a file that nginx serves.
    ///
    /// The file contains consecutive numbers of eight bytes each, so that every byte can be checked.
    private func makeFile(_ name: String, byteCount: Int) throws {
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

    /// The processor time of all workers so far.
    var processorSeconds: Double {
        let text = try? String(contentsOf: folder.appending(path: "nginx.pid"), encoding: .utf8)
        guard let text, let master = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) else { return 0 }
        let children = try? String(contentsOfFile: "/proc/\(master)/task/\(master)/children", encoding: .utf8)
        let workers = (children ?? "").split(whereSeparator: \.isWhitespace)
        return workers.map { worker in
            let statistics = try? String(contentsOfFile: "/proc/\(worker)/schedstat", encoding: .utf8)
            return (statistics?.split(separator: " ").first).flatMap { Double($0) } ?? 0
        }
        .reduce(0, +) * 1e-9
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

    private static func configuration(folder: String, ports: [Int], workerCount: Int) -> String {
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        return """
            \(getuid() == 0 ? "user root;" : "")
            worker_processes \(workerCount);
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
                root \(folder);
                ssl_certificate \(folder)/\(Certificate.file);
                ssl_certificate_key \(folder)/\(Certificate.keyFile);
                ssl_protocols TLSv1.3;
                server {
                    listen 127.0.0.1:\(ports[0]) backlog=2048;
                    listen 127.0.0.1:\(ports[1]) ssl backlog=2048;
                    \(small)
                }
                server {
                    listen 127.0.0.1:\(ports[4]) http2 backlog=2048;
                    \(small)
                }
                server {
                    listen 127.0.0.1:\(ports[2]) ssl backlog=2048;
                    keepalive_timeout 0;
                    \(small)
                }
                server {
                    listen 127.0.0.1:\(ports[3]) ssl http2 backlog=2048;
                    if ($server_protocol != HTTP/2.0) { return 505; }
                    \(small)
                }
            }
            """
    }

    private static var small: String {
        "location = /small { default_type application/json; return 200 '\(smallBody)'; }"
    }

    /// Returns different free ports.
    ///
    /// Each port is kept until all ports are found.
    private static func freePorts(_ count: Int) throws -> [Int] {
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        return try (0..<count).map { _ in
            let (descriptor, port) = try boundSocket()
            descriptors.append(descriptor)
            return port
        }
    }

    private static func boundSocket() throws -> (descriptor: Int32, port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
        }
        guard isBound else {
            close(descriptor)
            throw Program.Failure(command: "bind", status: errno, output: "no port is free")
        }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
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
