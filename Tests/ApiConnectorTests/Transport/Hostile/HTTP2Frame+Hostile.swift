// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

// Frames of hostile servers that no library sends.
extension HTTP2Frame {
    /// The server's empty SETTINGS, and its acknowledgment of the client's.
    static var preface: Data { bytes(of: [settings, settingsAcknowledgment]) }

    /// A whole head: a status of 200, and fields as literals that no table keeps (RFC 7541, section 6.2.2).
    static func head(_ fields: [(String, String)] = [], status: [UInt8] = [0x88], isLast: Bool = false) -> HTTP2Frame {
        let literals = fields.flatMap { (name, value) -> [UInt8] in [0] + text(name) + text(value) }
        return HTTP2Frame(type: 1, flags: isLast ? 5 : 4, stream: 1, payload: status + literals)
    }

    static func data(_ body: String, isLast: Bool = true) -> HTTP2Frame {
        HTTP2Frame(type: 0, flags: isLast ? 1 : 0, stream: 1, payload: Array(body.utf8))
    }

    /// A status of 103, as a literal: no table has it.
    static let earlyHints: [UInt8] = [0x08, 3] + Array("103".utf8)

    static func bytes(of frames: [HTTP2Frame]) -> Data {
        frames.reduce(into: Data()) { $0 += $1.bytes }
    }

    /// A string of fewer than 127 bytes, not compressed.
    private static func text(_ string: String) -> [UInt8] {
        [UInt8(string.utf8.count)] + Array(string.utf8)
    }
}
