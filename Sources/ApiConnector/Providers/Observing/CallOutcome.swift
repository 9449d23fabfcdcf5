// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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

    /// Whether there was no whole response, or one of status 400 and above; a canceled call is no failure.
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
