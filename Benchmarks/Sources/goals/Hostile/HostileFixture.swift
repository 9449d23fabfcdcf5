// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser

/// A response that is as expensive as possible for its reader.
enum HostileFixture: String, CaseIterable, ExpressibleByArgument {
    case nestedGzip, gzipBomb, deflateBomb, brotliBomb, zstdBomb, unreadBomb
    case endlessTrailers, endlessInterimHeads, endlessHead, headByteByByte
    case oneByteChunks, endlessChunkExtension, endlessBody, deepJSON, unreadStream
    case http2OneByteFrames, http2EmptyFrames, http2Pings, http2WindowUpdates

    var name: String {
        switch self {
        case .nestedGzip: "gzip in gzip, four deep, no output"
        case .gzipBomb: "a gzip bomb"
        case .deflateBomb: "a deflate bomb"
        case .brotliBomb: "a br bomb"
        case .zstdBomb: "a zstd bomb"
        case .unreadBomb: "a gzip bomb in an unread stream"
        case .endlessTrailers: "endless trailers"
        case .endlessInterimHeads: "endless 103 heads"
        case .endlessHead: "an endless head"
        case .headByteByByte: "a head byte by byte"
        case .oneByteChunks: "chunks of one byte"
        case .endlessChunkExtension: "an endless chunk extension"
        case .endlessBody: "a body over its limit"
        case .deepJSON: "JSON nested 400 deep"
        case .unreadStream: "an unread stream"
        case .http2OneByteFrames: "HTTP/2 frames of one byte"
        case .http2EmptyFrames: "HTTP/2 frames without a byte"
        case .http2Pings: "HTTP/2 pings"
        case .http2WindowUpdates: "HTTP/2 window updates"
        }
    }

    /// The number of calls in flight.
    ///
    /// For deep JSON it is one per core, because each decoding uses a thread of Swift's pool, which has one thread per
    /// core.
    var callCount: Int {
        self == .deepJSON ? ProcessInfo.processInfo.activeProcessorCount : 1
    }

    /// Whether the fixture uses HTTP/2, without TLS.
    var isMultiplexed: Bool {
        switch self {
        case .http2OneByteFrames, .http2EmptyFrames, .http2Pings, .http2WindowUpdates: true
        default: false
        }
    }

    /// The limits that can end a call that reads the fixture.
    ///
    /// Bytes of a body restart the stall limit. No limit applies to the decoding, or is noticed in an unread stream.
    var limits: [LateLimitsCommand.Limit] {
        switch self {
        case .deepJSON, .unreadStream, .unreadBomb: []
        case .http2EmptyFrames, .http2Pings, .http2WindowUpdates: LateLimitsCommand.Limit.allCases
        default: [.attempt, .overall]
        }
    }

    /// A provider that reads the fixture.
    var provider: AnyProvider {
        guard isMultiplexed else { return AnyProvider(SystemProvider()) }
        var configuration = CurlConfiguration()
        configuration.httpVersion = .http2PriorKnowledge
        return AnyProvider(CurlProvider(configuration: configuration))
    }

    /// Calls the server once, and returns when the call has failed or succeeded.
    func call(_ url: URL, over provider: AnyProvider) async {
        switch self {
        case .deepJSON:
            let api = NetworkConnector<_, SmallRouter>(
                environment: SmallEnvironment(scheme: .http, port: url.port ?? 80),
                provider: provider
            )
            _ = try? await api.value(JSONValue.self, at: .small)
        case .unreadStream, .unreadBomb:
            let response = try? await provider.response(for: ApiRequest(url: url, delivery: .streamed))
            try? await Task.sleep(for: .seconds(60))
            withExtendedLifetime(response) {}
        default:
            _ = try? await provider.response(for: ApiRequest(url: url)).body.collect(upTo: 1 << 26)
        }
    }

    /// Serves one connection until the client closes it.
    func serve(_ connection: RawConnection) {
        let script = script
        while connection.readHead() != nil {
            guard connection.send(script.start) else { return }
            if script.isByteByByte { connection.sendAtOnce() }
            guard let period = script.period else { continue }
            while connection.send(period) {}
            return
        }
    }

    /// The server's response.
    ///
    /// If it has no period, the server then waits for the next request.
    private struct Script {
        var start: [UInt8]
        var period: [UInt8]?
        var isByteByByte = false
    }

    private var script: Script {
        switch self {
        case .nestedGzip: Self.coded("gzip, gzip, gzip, gzip", Self.emptyBlocks.gzip.gzip.gzip)
        case .gzipBomb, .unreadBomb: Self.coded("gzip", Self.zeros.gzip)
        case .deflateBomb: Self.coded("deflate", Self.zeros.deflate)
        case .brotliBomb: Self.coded("br", Self.brotliZeros)
        case .zstdBomb: Self.coded("zstd", Self.zstdZeros)
        case .endlessTrailers:
            Self.text("\(Self.chunkedHead)5\r\nhello\r\n0\r\n", Self.lines("X-Trailer: "))
        case .endlessInterimHeads:
            Self.text("", String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n", count: 256))
        case .endlessHead: Self.text("HTTP/1.1 200 OK\r\n", Self.lines("X-Field: "))
        case .headByteByByte:
            Script(start: Array("HTTP/1.1 200 OK\r\nX-Field: ".utf8), period: Array("a".utf8), isByteByByte: true)
        case .oneByteChunks: Self.text(Self.chunkedHead, String(repeating: "1\r\na\r\n", count: 4096))
        case .endlessChunkExtension: Self.text("\(Self.chunkedHead)5;", String(repeating: "a", count: 16_384))
        case .deepJSON: Script(start: Self.response(to: Self.nestedObjects), period: nil)
        case .http2OneByteFrames: Self.frames(type: 0, stream: 1, [0x61])
        case .http2EmptyFrames: Self.frames(type: 0, stream: 1, [])
        case .http2Pings: Self.frames(type: 6, stream: 0, Array(repeating: 0, count: 8))
        case .http2WindowUpdates: Self.frames(type: 8, stream: 0, [0, 0, 0, 1])
        case .unreadStream, .endlessBody:
            Self.text("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", Self.lines("data: "))
        }
    }

    private static let chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static func text(_ start: String, _ period: String) -> Script {
        Script(start: Array(start.utf8), period: Array(period.utf8))
    }

    private static func lines(_ start: String) -> String {
        String(repeating: "\(start)\(String(repeating: "a", count: 1000))\r\n", count: 16)
    }

    /// The server's SETTINGS, the head of the first response, and then one frame (RFC 9113, section 4.1) that repeats.
    private static func frames(type: UInt8, stream: UInt8, _ payload: [UInt8]) -> Script {
        func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
            [0, 0, UInt8(payload.count), type, flags, 0, 0, 0, stream] + payload
        }
        let start = frame(4, 0, 0, []) + frame(4, 1, 0, []) + frame(1, 4, 1, [0x88])
        return Script(start: start, period: Array(repeatElement(frame(type, 0, stream, payload), count: 1024).joined()))
    }

    private static func coded(_ coding: String, _ data: EndlessData) -> Script {
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nConnection: close\r\n\r\n"
        return Script(start: Array(head.utf8) + data.start, period: data.periods(16_384))
    }

    /// 32 KB of JSON: objects that are nested 400 levels deep, with numbers in the innermost object.
    private static var nestedObjects: String {
        let depth = 400
        let opened = String(repeating: #"{"a":"#, count: depth)
        let numbers = Array(repeating: "1", count: (32_768 - 6 * depth) / 2).joined(separator: ",")
        return "\(opened)[\(numbers)]\(String(repeating: "}", count: depth))"
    }

    private static func response(to body: String) -> [UInt8] {
        let fields = "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)"
        return Array("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n\(body)".utf8)
    }
}

extension HostileFixture {
    static let zeros = EndlessData(start: [], period: [0])

    /// A gzip stream without output: it has only stored blocks without bytes.
    static let emptyBlocks = EndlessData(
        start: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3],
        period: [0, 0, 0, 0xFF, 0xFF]
    )

    /// Each 14 bytes decode to 16 MiB of zeros.
    ///
    /// libbrotlienc writes them this way with a window of 16 MiB.
    static let brotliZeros = EndlessData(
        start: [0xCF, 0xFF, 0xFF, 0x7F, 0x00, 0x24, 0x00, 0xE2, 0xB1, 0x40, 0x72, 0xEF, 0xFF, 0x0D],
        period: [0xFC, 0xFF, 0xFF, 0x07, 0x40, 0x02, 0x20, 0x0E, 0x0B, 0x40, 0xF7, 0xFE, 0xDF, 0x00]
    )

    /// A frame with a window of 128 KiB.
    ///
    /// Each block says that a zero is repeated 131,072 times (RFC 8878).
    static let zstdZeros = EndlessData(
        start: [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x38],
        period: [0x02, 0x00, 0x10, 0x00]
    )
}
