// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a call came to, told with its last event.
public struct CallTotals: Sendable, CustomStringConvertible {
    /// How it ended.
    public let outcome: CallOutcome

    /// How long it took, the body included.
    public let elapsed: Duration

    /// How many bytes of the body came.
    public let byteCount: Int

    /// How often a retrying provider further in sent the request; 1 where there is none.
    public let attemptCount: Int

    /// Where the time of the last attempt went; nil where the transport does not measure it, or was not reached.
    ///
    /// ``CallEvent/Kind/attemptTimed(_:)`` has the times of the attempts before. Each hop of a redirect has totals of its
    /// own.
    public var times: TransportTimes? { timesRecord?.times }

    let timesRecord: TransportTimesRecord?

    /// Outcome, time, bytes and attempts.
    public var description: String {
        let attempts = attemptCount == 1 ? "" : " in \(attemptCount) attempts"
        return "\(outcome) after \(elapsed), \(byteCount) bytes\(attempts)"
    }
}

/// How a call ended, as far as its providers know: what a connection thinks of a response comes later.
public enum CallOutcome: Sendable, CustomStringConvertible {
    /// The response came whole, whatever its status.
    case answered(HTTPStatus)

    /// The response's body was left before its end: by its reader, a cancel or a limit of time.
    case left(HTTPStatus)

    /// There was no response, or its body failed.
    case failed(ApiConnectorError)

    /// The response's status; nil where there was none, or its body failed.
    public var status: HTTPStatus? {
        switch self {
        case .answered(let status), .left(let status): status
        case .failed: nil
        }
    }

    /// Whether there was no whole response, or one of status 400 and above; a cancelled call is no failure.
    public var isFailure: Bool {
        switch self {
        case .answered(let status): status.rawValue >= 400
        case .left: false
        case .failed(let error): error.kind != .cancelled
        }
    }

    /// The outcome as a label, low in cardinality: `2xx` to `5xx`, `left`, or the kind of the error.
    public var label: String {
        switch self {
        case .answered(let status): "\(status.rawValue / 100)xx"
        case .left: "left"
        case .failed(let error): error.kind.rawValue
        }
    }

    /// The status, or the error's kind.
    public var description: String {
        switch self {
        case .answered(let status): status.description
        case .left(let status): "\(status), left"
        case .failed(let error): error.kind.rawValue
        }
    }
}
