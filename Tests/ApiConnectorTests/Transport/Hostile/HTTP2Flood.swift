// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import TestSupport
import Testing

/// HTTP/2 frames without data that a server sends as fast as it can.
struct HTTP2Flood: Sendable, CustomTestStringConvertible {
    enum Frames: String, CaseIterable {
        case windowUpdate, priority, goAway, settings, unknownType, emptyData

        fileprivate var frame: HTTP2Frame {
            switch self {
            case .windowUpdate: HTTP2Frame(type: 8, payload: [0, 0, 0, 1])
            case .priority: HTTP2Frame(type: 2, stream: 1, payload: [0, 0, 0, 0, 15])
            case .goAway: .goAway(last: 0x7FFF_FFFF)
            case .settings: .settings
            case .unknownType: HTTP2Frame(type: 0x99)
            case .emptyData: HTTP2Frame(type: 0, stream: 1)
            }
        }
    }

    var frames: Frames
    var isSecure = false
    var isAfterHead = false

    static let all = Frames.allCases.flatMap { frames in
        [false, true].flatMap { isSecure in
            [false, true].map { HTTP2Flood(frames: frames, isSecure: isSecure, isAfterHead: $0) }
        }
    }

    var testDescription: String {
        "\(frames.rawValue) \(isSecure ? "over TLS" : "in the clear") \(isAfterHead ? "after" : "before") the head"
    }

    /// Whether libcurl 7.88 ends the connection by itself, so that the call may fail before a limit.
    var isRefused: Bool { frames == .settings || (frames == .emptyData && !isAfterHead) }

    /// The bytes after which the flood counts as begun; libcurl may stop reading a flood that it refuses.
    fileprivate var startByteCount: Int { isRefused ? 1 : 2 << 20 }
}

/// A server that floods each connection after the first request.
final class HTTP2FloodServer {
    let url: URL
    /// Opened when the flood has begun, or the client has ended the connection.
    let isFlooding: Gate
    private let server: LoopbackServer
    private let processID: pid_t?
    /// `openssl s_server` for a server over TLS.
    private let shell: Shell?

    /// - Parameter responseCount: How many requests are answered before the flood.
    init(_ flood: HTTP2Flood, _ certificates: TLSCertificates, afterResponses responseCount: UInt32 = 0) throws {
        let isFlooding = Gate("flood")
        let port = PortBox()
        self.isFlooding = isFlooding
        server = try LoopbackServer { connection in
            if flood.isSecure {
                // The connection comes from s_server, which first tells its own port.
                var line = try connection.readTextLine()
                while !line.hasPrefix("ACCEPT") { line = try connection.readTextLine() }
                port.set(line.split(separator: ":").last.flatMap { Int($0) })
            }
            defer { isFlooding.open() }
            // The client's preface has a line `PRI * HTTP/2.0`, and the bytes after `SM` and two line breaks are frames.
            while let line = try connection.readLine(), !line.hasSuffix("PRI * HTTP/2.0") {}
            for _ in 0..<3 { _ = try connection.readLine() }
            try connection.send(HTTP2Frame.preface)
            for number in 0..<responseCount { try connection.answer(number) }
            if flood.isAfterHead { try connection.send(HTTP2Frame.head().bytes) }
            let frame = flood.frames.frame.bytes
            let block = (0..<32_768 / frame.count).reduce(into: Data()) { block, _ in block += frame }
            var count = 0
            while true {
                try connection.send(block)
                count += block.count
                if count >= flood.startByteCount { isFlooding.open() }
            }
        }
        guard flood.isSecure else {
            url = server.url()
            processID = nil
            shell = nil
            return
        }
        // s_server's input and output are a connection to the server above. It obeys letters at the start of its input,
        // but no frame of a flood starts with one.
        let shell = try Shell(
            "exec bash -c 'echo $$; exec 3<>/dev/tcp/127.0.0.1/\(server.port); exec openssl s_server "
                + "-accept 127.0.0.1:0 -alpn h2 -cert \"\(certificates.certificate("server").path)\" "
                + "-key \"\(certificates.key("server").path)\" <&3 >&3'"
        )
        processID = shell.line().flatMap { pid_t($0) }
        self.shell = consume shell
        url = try #require(URL(string: "https://\(LoopbackServer.host):\(try port.wait())/"))
    }

    deinit {
        if let processID { kill(processID, SIGKILL) }
    }

    /// The port of `s_server`, which is known after its start.
    private final class PortBox: Sendable {
        private let port = Locked<Int?>(nil)
        private let isKnown = Gate("port of s_server")

        func set(_ value: Int?) {
            port.withLock { $0 = value }
            isKnown.open()
        }

        func wait() throws -> Int {
            try isKnown.wait()
            return try #require(port.withLock { $0 }, "s_server did not start")
        }
    }
}

extension LoopbackConnection {
    /// Reads a line that ends with LF.
    fileprivate func readTextLine() throws -> String {
        var line = Data()
        while let byte = try read(1).first, byte != 10 { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    /// Waits for a request's HEADERS, and answers it with an empty response.
    fileprivate func answer(_ number: UInt32) throws {
        while true {
            let head = [UInt8](try read(9))
            _ = try read(Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2]))
            if head[3] == 1 { return try send(HTTP2Frame.ok(2 * number + 1).bytes) }
        }
    }
}
#endif
