// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Where the time of one exchange went, as its transport measured it.
///
/// Each attempt of a retry and each hop of a redirect is its own exchange. The phases follow one another. A phase is
/// nil if it did not take place, such as the name lookup on a connection that was used before, or if the transport does not
/// measure it.
public struct TransportTimes: Sendable, Hashable {
    /// A part of an exchange.
    ///
    /// The cases are in the order of time.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Waiting for a connection, or for a place among as many as the transport uses at once.
        case waiting
        /// Looking up the server's name, or its proxy's.
        case nameLookup
        /// Connecting to the server; with a proxy, connecting to the server through it.
        case connecting
        /// The TLS handshake.
        case tlsHandshake
        /// Handing the request to the connection, its body included.
        case sending
        /// Waiting for the first byte of the response.
        case responseWait
        /// From the response's first byte to its last.
        case receiving
    }

    private var waiting: Duration?
    private var nameLookup: Duration?
    private var connecting: Duration?
    private var tlsHandshake: Duration?
    private var sending: Duration?
    private var responseWait: Duration?
    private var receiving: Duration?

    /// Whether the connection had carried a request before, or was made for another one; nil if that is unknown.
    public var isConnectionReused: Bool?

    /// The version of HTTP, such as `1.1` or `2`.
    public var httpVersion: String?

    /// The version of TLS, such as `1.3`; nil without TLS.
    public var tlsVersion: String?

    /// The address of the server, or of its proxy, without a port.
    public var remoteAddress: String?

    /// The port of ``remoteAddress``.
    public var remotePort: Int?

    /// How many bytes of the request's body were sent.
    public var requestBodyByteCount: Int64?

    /// How long the response's head was.
    ///
    /// Over HTTP/2 it is the length before compression.
    public var responseHeadByteCount: Int64?

    /// How many bytes of the response's body came, before decompression.
    public var responseBodyByteCount: Int64?

    /// How many bytes of the response's body there were after decompression.
    public var decodedBodyByteCount: Int64?

    /// Makes times in which nothing was measured.
    public init() {}

    /// How long a phase took; nil if it did not take place or was not measured.
    public subscript(phase: Phase) -> Duration? {
        get {
            switch phase {
            case .waiting: waiting
            case .nameLookup: nameLookup
            case .connecting: connecting
            case .tlsHandshake: tlsHandshake
            case .sending: sending
            case .responseWait: responseWait
            case .receiving: receiving
            }
        }
        set {
            switch phase {
            case .waiting: waiting = newValue
            case .nameLookup: nameLookup = newValue
            case .connecting: connecting = newValue
            case .tlsHandshake: tlsHandshake = newValue
            case .sending: sending = newValue
            case .responseWait: responseWait = newValue
            case .receiving: receiving = newValue
            }
        }
    }

    /// The time of all phases that were measured.
    public var total: Duration { Phase.allCases.reduce(.zero) { $0 + (self[$1] ?? .zero) } }

    /// The time from the start to the first byte of the response; nil if no byte came.
    public var timeToFirstByte: Duration? {
        guard self[.receiving] != nil else { return nil }
        return total - (self[.receiving] ?? .zero)
    }

    /// The phase that took longest, the first of several; nil if nothing was measured.
    public var longestPhase: Phase? {
        var longest: (phase: Phase, duration: Duration)?
        for phase in Phase.allCases {
            guard let duration = self[phase], duration > longest?.duration ?? .zero else { continue }
            longest = (phase, duration)
        }
        return longest?.phase
    }
}

extension TransportTimes.Phase {
    /// The subject of the sentence in an error's text.
    fileprivate var text: String {
        switch self {
        case .waiting: "Waiting for a connection"
        case .nameLookup: "The name lookup"
        case .connecting: "Connecting"
        case .tlsHandshake: "The TLS handshake"
        case .sending: "Sending the request"
        case .responseWait: "Waiting for the response"
        case .receiving: "Receiving the response"
        }
    }
}

extension TransportTimes {
    /// The phase that took longest, as a sentence; nil for an exchange of less than a second.
    var sentence: String? {
        guard total >= .seconds(1), let phase = longestPhase, let longest = self[phase] else { return nil }
        return "\(phase.text) took \(Self.tenths(longest)) of \(Self.tenths(total)) s."
    }

    private static func tenths(_ duration: Duration) -> String {
        let tenths = Int64(duration / .milliseconds(100))
        return "\(tenths / 10).\(tenths % 10)"
    }
}

extension TransportTimes: CustomStringConvertible {
    /// The phases in milliseconds, in the order of time.
    public var description: String {
        Phase.allCases.compactMap { phase in
            self[phase].map { duration in
                let tenths = Int64(duration / .microseconds(100))
                return "\(phase.rawValue) \(tenths / 10).\(tenths % 10) ms"
            }
        }
        .joined(separator: ", ")
    }
}
