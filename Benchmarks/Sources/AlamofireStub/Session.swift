// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

// Alamofire 5.12 cannot be fetched where this package is built. These are the few of its declarations that the guide
// "Use the Alamofire session you already have" uses, spelled as its documentation spells them, over canned answers.
// What clashes with names of ApiConnector's is here as well, so that the guide's code is known to compile beside it.

/// Alamofire's session; here it answers what it is told.
///
/// Unchecked, as Alamofire's own is, because it is open; what it holds is constant and `Sendable`.
open class Session: @unchecked Sendable {
    /// What a stub is told to answer; not Alamofire's.
    public typealias Answer = @Sendable (URLRequest) async -> (HTTPURLResponse?, Result<Data, AFError>)

    /// The session behind `AF`.
    public static let `default` = Session { _ in (nil, .failure(.sessionDeinitialized)) }

    private let answer: Answer

    /// Makes a stub; not Alamofire's.
    public init(answering answer: @escaping Answer) {
        self.answer = answer
    }

    /// Makes a request.
    open func request(
        _ convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil
    ) -> DataRequest {
        DataRequest(convertible, answer)
    }
}

/// The default session.
public let AF = Session.default

/// What can be made a request.
public protocol URLRequestConvertible: Sendable {
    /// The request.
    func asURLRequest() throws -> URLRequest
}

extension URLRequest: URLRequestConvertible {
    /// The request itself.
    public func asURLRequest() throws -> URLRequest { self }
}

/// What adapts and retries requests.
public protocol RequestInterceptor: Sendable {}

/// What decides about redirects.
public protocol RedirectHandler: Sendable {}

/// The ready-made redirect handler.
public struct Redirector: RedirectHandler {
    /// Follows none.
    public static let doNotFollow = Redirector()
}

extension RedirectHandler where Self == Redirector {
    /// Follows none.
    public static var doNotFollow: Redirector { .doNotFollow }
}

/// Alamofire's method, whose name is ours too.
public struct HTTPMethod: Hashable, Sendable {
    /// The method as it is sent.
    public let rawValue: String

    /// HEAD.
    public static let head = HTTPMethod(rawValue: "HEAD")
}

/// Alamofire's header fields, whose name is ours too.
public struct HTTPHeaders: Sendable {}
