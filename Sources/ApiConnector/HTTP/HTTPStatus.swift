// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The status code of a response (RFC 9110, section 15); any number is possible.
public struct HTTPStatus: RawRepresentable, ExpressibleByIntegerLiteral, Hashable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: Int

    /// Makes a status from any number.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Makes a status from a literal.
    public init(integerLiteral value: Int) {
        self.init(rawValue: value)
    }

    /// 100 to 199.
    public var isInformational: Bool { 100..<200 ~= rawValue }
    /// 200 to 299.
    public var isSuccess: Bool { 200..<300 ~= rawValue }
    /// 300 to 399.
    public var isRedirection: Bool { 300..<400 ~= rawValue }
    /// 400 to 499.
    public var isClientError: Bool { 400..<500 ~= rawValue }
    /// 500 to 599.
    public var isServerError: Bool { 500..<600 ~= rawValue }

    /// The number and its standard phrase, such as `404 Not Found`; only the number if there is no phrase.
    public var description: String {
        guard let phrase = Self.phrases[rawValue] else { return String(rawValue) }
        return "\(rawValue) \(phrase)"
    }

    /// Whether responses with this status never have a body: 1xx, 204, 304.
    var forbidsBody: Bool {
        isInformational || rawValue == 204 || rawValue == 304
    }

    private static let phrases: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 103: "Early Hints",
        200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
        205: "Reset Content", 206: "Partial Content", 207: "Multi-Status",
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required",
        408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed",
        413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
        417: "Expectation Failed", 421: "Misdirected Request", 422: "Unprocessable Content", 423: "Locked",
        424: "Failed Dependency", 425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required",
        429: "Too Many Requests", 431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported", 507: "Insufficient Storage",
        508: "Loop Detected", 511: "Network Authentication Required",
    ]
}
