// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension CallEvent {
    /// How a call ended for its providers, before the connection validates the response.
    public enum Outcome: Sendable, CustomStringConvertible {
        /// The complete response arrived, with any status.
        case answered(HTTPStatus)

        /// The body was abandoned before its end, because of its reader, a cancellation or a time limit.
        case left(HTTPStatus)

        /// There was no response, or its body failed.
        case failed(ApiConnectorError)

        /// The response's status; nil if there was no response, or if its body failed.
        public var status: HTTPStatus? {
            switch self {
            case .answered(let status), .left(let status): status
            case .failed: nil
            }
        }

        /// Whether the call failed, or its status is 400 or above; false for a canceled call and an abandoned body.
        public var isFailure: Bool {
            switch self {
            case .answered(let status): status.rawValue >= 400
            case .left: false
            case .failed(let error): error.kind != .cancelled
            }
        }

        /// The outcome as a label of low cardinality: `2xx` to `5xx`, `left`, or the kind of the error.
        public var label: String {
            switch self {
            case .answered(let status): "\(status.rawValue / 100)xx"
            case .left: "left"
            case .failed(let error): error.kind.rawValue
            }
        }

        /// The status or the error's kind.
        public var description: String {
            switch self {
            case .answered(let status): status.description
            case .left(let status): "\(status), left"
            case .failed(let error): error.kind.rawValue
            }
        }
    }
}
