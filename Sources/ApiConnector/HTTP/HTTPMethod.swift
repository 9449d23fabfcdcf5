// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A request method (RFC 9110, section 9): an open set, case-sensitive.
public struct HTTPMethod: RawRepresentable, ExpressibleByStringLiteral, Hashable, Sendable, CustomStringConvertible {
    /// The method as it is sent.
    public let rawValue: String

    /// Makes a method of any name; a name that is no RFC 9110 token is refused when a request is made.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Makes a method of a literal name.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }

    /// Reads a resource.
    public static let get = HTTPMethod(rawValue: "GET")
    /// Reads a resource's head only; the answer has no body.
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// Hands data to a resource; repeating it may do the work twice.
    public static let post = HTTPMethod(rawValue: "POST")
    /// Replaces a resource.
    public static let put = HTTPMethod(rawValue: "PUT")
    /// Changes a part of a resource (RFC 5789).
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// Removes a resource.
    public static let delete = HTTPMethod(rawValue: "DELETE")
    /// Asks what may be done with a resource.
    public static let options = HTTPMethod(rawValue: "OPTIONS")
    /// Asks for the request as the server received it.
    public static let trace = HTTPMethod(rawValue: "TRACE")

    /// Reads a resource by a query in the request's body (RFC 10008).
    public static let query = HTTPMethod(rawValue: "QUERY")

    /// Whether the method only reads (RFC 9110, section 9.2.1); a method unknown to us does not.
    public var isSafe: Bool {
        self == .get || self == .head || self == .options || self == .trace || self == .query
    }

    /// Whether sending it twice has the effect of sending it once (RFC 9110, section 9.2.2); unknown ones have not.
    public var isIdempotent: Bool {
        isSafe || self == .put || self == .delete
    }

    /// The method as it is sent; quoted and escaped where it is no token, so that it stays on one line.
    public var description: String { isToken ? rawValue : String(reflecting: rawValue) }

    /// Whether the name is a token, so that it cannot break the request line.
    var isToken: Bool {
        !rawValue.isEmpty && ByteSet.token.containsAll(of: rawValue)
    }
}
