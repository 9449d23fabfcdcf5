// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting

/// A frame of HTTP/2 (RFC 9113, section 4.1), as a server of the tests reads and sends it.
struct HTTP2Frame: Sendable {
    var type: UInt8
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var payload: [UInt8] = []

    var bytes: Data {
        let count = payload.count
        var bytes: [UInt8] = [UInt8(count >> 16 & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF), type, flags]
        bytes += Self.bytes(of: stream)
        return Data(bytes + payload)
    }

    static let settings = HTTP2Frame(type: 4)
    static let settingsAcknowledgment = HTTP2Frame(type: 4, flags: 1)
    static let ping = HTTP2Frame(type: 6, payload: [0, 0, 0, 0, 0, 0, 0, 0])

    /// A whole response: the head is `:status: 200` from HPACK's static table.
    static func ok(_ stream: UInt32) -> HTTP2Frame {
        HTTP2Frame(type: 1, flags: 5, stream: stream, payload: [0x88])
    }

    static func reset(_ stream: UInt32, code: UInt32) -> HTTP2Frame {
        HTTP2Frame(type: 3, stream: stream, payload: bytes(of: code))
    }

    static func goAway(last stream: UInt32, error: UInt32 = 0) -> HTTP2Frame {
        HTTP2Frame(type: 7, payload: bytes(of: stream) + bytes(of: error))
    }

    static let refusedStream: UInt32 = 7
    static let internalError: UInt32 = 2
    static let http1Required: UInt32 = 13

    private static func bytes(of number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(number >> $0 & 0xFF) }
    }
}

extension LoopbackConnection {
    /// Speaks HTTP/2 without TLS, and tells of each request by its stream once its last frame has come.
    func serveHTTP2(_ onRequest: (UInt32) throws -> Void) throws {
        _ = try read(24)
        try send(HTTP2Frame.settings.bytes)
        while true {
            let head = [UInt8](try read(9))
            _ = try read(Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2]))
            let stream = head[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            switch head[3] {
            case 4 where head[4] & 1 == 0: try send(HTTP2Frame.settingsAcknowledgment.bytes)
            case 0 where head[4] & 1 != 0, 1 where head[4] & 1 != 0: try onRequest(stream)
            default: break
            }
        }
    }

    /// Reads frames up to the acknowledgment of a ping.
    func readPingAcknowledgment() throws {
        while true {
            let head = [UInt8](try read(9))
            _ = try read(Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2]))
            if head[3] == 6, head[4] & 1 != 0 { return }
        }
    }

    func send(_ frame: HTTP2Frame) throws {
        try send(frame.bytes)
    }
}
