// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The times of an exchange's phases, as the transport measured them.
///
/// Each retry and each hop of a redirect is a separate exchange. The phases follow one another. A phase is nil if it
/// did not take place, such as the name lookup on a reused connection, or if the transport does not measure it.
public struct TransportTimes: Sendable, Hashable {
    /// A phase of an exchange; the cases are in chronological order.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Waiting for a connection, because the transport limits their number, or for the request's turn in a limiting
        /// provider.
        ///
        /// An observer or archive sees only the waits in the inner providers. The event
        /// ``CallEvent/Kind/limited(for:because:)`` reports only the wait for the turn. Retry delays are not included.
        case waiting
        /// Looking up the name of the server or its proxy.
        case nameLookup
        /// Connecting to the server; with a proxy, connecting to the server through it.
        case connecting
        /// The TLS handshake.
        case tlsHandshake
        /// Sending the request, including its body.
        case sending
        /// Waiting for the first byte of the response.
        case responseWait
        /// From the first byte of the response to the last; zero if the transport received both at once.
        case receiving
    }

    private var waiting: Duration?
    private var nameLookup: Duration?
    private var connecting: Duration?
    private var tlsHandshake: Duration?
    private var sending: Duration?
    private var responseWait: Duration?
    private var receiving: Duration?

    /// Whether the connection was opened for another request; nil if unknown.
    public var isConnectionReused: Bool?

    /// The HTTP version, such as `1.1` or `2`.
    public var httpVersion: String?

    /// The TLS version, such as `1.3`; nil without TLS.
    public var tlsVersion: String?

    /// The address of the server or its proxy, without a port.
    public var remoteAddress: String?

    /// The port of ``remoteAddress``.
    public var remotePort: Int?

    /// The number of bytes of the request's body that were sent.
    public var requestBodyByteCount: Int64?

    /// The length of the response's head in bytes.
    ///
    /// Over HTTP/2, this is the length before compression.
    public var responseHeadByteCount: Int64?

    /// The number of received bytes of the response's body, before decompression.
    public var responseBodyByteCount: Int64?

    /// The number of bytes of the response's body after decompression.
    public var decodedBodyByteCount: Int64?

    /// Makes times without any measurement.
    public init() {}

    /// The duration of a phase; nil if it did not take place or was not measured.
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

    /// The total time of all measured phases.
    public var total: Duration { Phase.allCases.reduce(.zero) { $0 + (self[$1] ?? .zero) } }

    /// The time from the start to the first byte of the response; nil if no byte arrived.
    public var timeToFirstByte: Duration? {
        guard self[.receiving] != nil else { return nil }
        return total - (self[.receiving] ?? .zero)
    }

    /// The longest phase, the first of equal ones; nil if nothing was measured.
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
        case .waiting: "Waiting for a connection or a limit"
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
    /// A sentence about the longest phase; nil for an exchange of less than a second.
    var sentence: String? { sentence(from: .seconds(1)) }

    /// - Parameter minimum: The shortest total time that has a sentence.
    func sentence(from minimum: Duration) -> String? {
        guard total >= minimum, let phase = longestPhase, let longest = self[phase] else { return nil }
        return "\(phase.text) took \(Self.tenths(longest)) of \(Self.tenths(total)) s."
    }

    private static func tenths(_ duration: Duration) -> String {
        let tenths = Int64(duration / .milliseconds(100))
        return "\(tenths / 10).\(tenths % 10)"
    }
}

extension TransportTimes: CustomStringConvertible {
    /// The phases in milliseconds, in chronological order.
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
