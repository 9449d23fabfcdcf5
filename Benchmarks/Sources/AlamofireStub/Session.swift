// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

// Alamofire 5.12 cannot be downloaded where this package is built. This stub has the declarations that the guide "Use
// the Alamofire session you already have" uses, as in Alamofire's documentation. It returns canned responses. It also
// has the declarations whose names clash with names of ApiConnector, to prove that the guide's code compiles with both.

/// Alamofire's session, which returns a canned response here.
///
/// The class is `@unchecked Sendable`, like Alamofire's class, because it is open. Its properties are constant and
/// `Sendable`.
open class Session: @unchecked Sendable {
    /// The stub's response.
    ///
    /// It is not part of Alamofire.
    public typealias Answer = @Sendable (URLRequest) async -> (HTTPURLResponse?, Result<Data, AFError>)

    /// The session behind `AF`.
    public static let `default` = Session { _ in (nil, .failure(.sessionDeinitialized)) }

    private let answer: Answer

    /// Makes a stub.
    ///
    /// This initializer is not part of Alamofire.
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

/// A type that can be converted to a request.
public protocol URLRequestConvertible: Sendable {
    /// The request.
    func asURLRequest() throws -> URLRequest
}

extension URLRequest: URLRequestConvertible {
    /// The request itself.
    public func asURLRequest() throws -> URLRequest { self }
}

/// Adapts and retries requests.
public protocol RequestInterceptor: Sendable {}

/// Handles redirects.
public protocol RedirectHandler: Sendable {}

/// The ready-made redirect handler.
public struct Redirector: RedirectHandler {
    /// Does not follow redirects.
    public static let doNotFollow = Redirector()
}

extension RedirectHandler where Self == Redirector {
    /// Does not follow redirects.
    public static var doNotFollow: Redirector { .doNotFollow }
}

/// Alamofire's HTTP method.
///
/// ApiConnector has a type of the same name.
public struct HTTPMethod: Hashable, Sendable {
    /// The method as it is sent.
    public let rawValue: String

    /// HEAD.
    public static let head = HTTPMethod(rawValue: "HEAD")
}

/// Alamofire's header fields.
///
/// ApiConnector has a type of the same name.
public struct HTTPHeaders: Sendable {}
