// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// The bytes that a hostile server sends instead of a response, and the result over each transport.
struct HostileFixture: Sendable {
    /// How a call ends.
    enum Outcome: Sendable, Hashable {
        /// A response with this status and this body.
        case response(Int, String)
        /// An error of this kind, from the call or from the body.
        case failure(ApiConnectorError.Kind)
        /// Some end, which differs from run to run.
        case unstable
        /// Not played: the transport cannot be asked, or the process would not survive it.
        case skipped(String)
    }

    /// A version of HTTP that the server speaks.
    enum Version: Sendable {
        case http1
        case http2
    }

    let name: String
    let version: Version
    // Arrays, because the leak checker does not find a Data in a table that lives as long as the process: Foundation keeps
    // marks in the upper bits of its pointer.
    private let startBytes: [UInt8]
    private let repeatedBytes: [UInt8]
    private let endBytes: [UInt8]
    /// The most bytes that `repeated` comes to; more than any limit of the library.
    var maximumByteCount = 1 << 20

    /// The result of a collected and of a streamed call.
    let outcome: Outcome
    /// The result over `URLSessionProvider` on Linux with libcurl 7.88, if it differs.
    private let foundation: Outcome?

    init(
        _ name: String,
        _ version: Version,
        start: some Sequence<UInt8>,
        repeated: some Sequence<UInt8>,
        end: some Sequence<UInt8> = [],
        is outcome: Outcome,
        foundation: Outcome? = nil
    ) {
        self.name = name
        self.version = version
        (startBytes, repeatedBytes, endBytes) = (Array(start), Array(repeated), Array(end))
        self.outcome = outcome
        self.foundation = foundation
    }

    /// The first bytes of the server.
    var start: Data { Data(startBytes) }
    /// The next bytes, repeated until the client disconnects or `maximumByteCount` bytes are sent.
    var repeated: Data { Data(repeatedBytes) }
    /// The last bytes of the server.
    var end: Data { Data(endBytes) }

    /// The result over a transport.
    func outcome(over transport: HostileTransport) -> Outcome {
        guard transport == .urlSession else { return outcome }
        if version == .http2 { return .skipped("it speaks HTTP/2 over TLS only") }
        return FoundationChange.outcome(of: name, in: Self.foundationChanges) ?? foundation ?? outcome
    }
}

extension HostileFixture {
    /// A head of status 200 with these lines and then a body; both are sent as they are.
    static func response(
        _ name: String,
        _ lines: [String],
        body: String = "",
        is outcome: Outcome,
        foundation: Outcome? = nil
    ) -> HostileFixture {
        raw(
            name,
            (["HTTP/1.1 200 OK"] + lines + ["", body]).joined(separator: "\r\n"),
            is: outcome,
            foundation: foundation
        )
    }

    /// These bytes, and a part that is repeated.
    static func raw(
        _ name: String,
        _ start: String,
        repeated: String = "",
        end: String = "",
        is outcome: Outcome,
        foundation: Outcome? = nil
    ) -> HostileFixture {
        HostileFixture(
            name,
            .http1,
            start: start.utf8,
            repeated: repeated.utf8,
            end: end.utf8,
            is: outcome,
            foundation: foundation
        )
    }

    /// Frames of HTTP/2 after the server's preface, to a request on stream 1.
    static func frames(
        _ name: String,
        _ frames: [HTTP2Frame],
        repeated: [HTTP2Frame] = [],
        is outcome: Outcome
    ) -> HostileFixture {
        HostileFixture(
            name,
            .http2,
            start: HTTP2Frame.preface + HTTP2Frame.bytes(of: frames),
            repeated: HTTP2Frame.bytes(of: repeated),
            is: outcome
        )
    }
}

extension HostileFixture: CustomTestStringConvertible {
    var testDescription: String { name }
}
