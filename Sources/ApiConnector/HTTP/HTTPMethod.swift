// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A request method (RFC 9110, section 9).
///
/// Methods are case-sensitive, and you can define more.
public struct HTTPMethod: RawRepresentable, ExpressibleByStringLiteral, Hashable, Sendable, CustomStringConvertible {
    /// The method as it is sent.
    public let rawValue: String

    /// Makes a method from any name.
    ///
    /// A request with a name that is not a token (RFC 9110) is refused.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Makes a method from a literal.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }

    /// Reads a resource.
    public static let get = HTTPMethod(rawValue: "GET")
    /// Reads a resource's head; the response has no body.
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// Sends data to a resource; sending it twice may do the work twice.
    public static let post = HTTPMethod(rawValue: "POST")
    /// Replaces a resource.
    public static let put = HTTPMethod(rawValue: "PUT")
    /// Changes a part of a resource (RFC 5789).
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// Removes a resource.
    public static let delete = HTTPMethod(rawValue: "DELETE")
    /// Asks which methods and options a resource supports.
    public static let options = HTTPMethod(rawValue: "OPTIONS")
    /// Returns the request as the server received it.
    public static let trace = HTTPMethod(rawValue: "TRACE")

    /// Reads a resource with a query in the request's body (RFC 10008).
    public static let query = HTTPMethod(rawValue: "QUERY")

    /// Whether the method only reads (RFC 9110, section 9.2.1); false for unknown methods.
    public var isSafe: Bool {
        self == .get || self == .head || self == .options || self == .trace || self == .query
    }

    /// Whether sending a request twice has the same effect as sending it once (RFC 9110, section 9.2.2); false for
    /// unknown methods.
    public var isIdempotent: Bool {
        isSafe || self == .put || self == .delete
    }

    /// The method as it is sent; quoted and escaped if it is not a token, so that it stays on one line.
    public var description: String { isToken ? rawValue : String(reflecting: rawValue) }

    /// Whether the name is a token, which cannot break the request line.
    var isToken: Bool {
        !rawValue.isEmpty && ByteSet.token.containsAll(of: rawValue)
    }
}
