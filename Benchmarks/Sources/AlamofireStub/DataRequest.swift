// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A request of a session.
///
/// The class is `@unchecked Sendable`, like Alamofire's class, because it is not final. Its properties are constant and
/// `Sendable`.
public class DataRequest: @unchecked Sendable {
    private let convertible: any URLRequestConvertible
    private let answer: Session.Answer

    init(_ convertible: any URLRequestConvertible, _ answer: @escaping Session.Answer) {
        self.convertible = convertible
        self.answer = answer
    }

    /// Sets the redirect handler.
    @discardableResult
    public func redirect(using handler: any RedirectHandler) -> Self { self }

    /// Returns a task for the body as data.
    public func serializingData(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor(),
        emptyResponseCodes: Set<Int> = [204, 205],
        emptyRequestMethods: Set<HTTPMethod> = [.head]
    ) -> DataTask<Data> {
        DataTask { [convertible, answer] in
            guard let request = try? convertible.asURLRequest() else {
                return DataResponse(response: nil, data: nil, result: .failure(.sessionDeinitialized))
            }
            let (response, result) = await answer(request)
            return DataResponse(response: response, data: try? result.get(), result: result)
        }
    }
}

/// Preprocesses data before serialization.
public protocol DataPreprocessor: Sendable {}

/// The preprocessor that does nothing.
public struct PassthroughPreprocessor: DataPreprocessor {
    /// Makes the preprocessor.
    public init() {}
}

/// A value that is still loading.
public struct DataTask<Value: Sendable>: Sendable {
    private let run: @Sendable () async -> DataResponse<Value, AFError>

    init(_ run: @escaping @Sendable () async -> DataResponse<Value, AFError>) {
        self.run = run
    }

    /// The result.
    public var response: DataResponse<Value, AFError> {
        get async { await run() }
    }
}

/// The response of a request.
public struct DataResponse<Success: Sendable, Failure: Error>: Sendable {
    /// The head.
    public let response: HTTPURLResponse?
    /// The body.
    public let data: Data?
    /// The value or the error.
    public let result: Result<Success, Failure>

    /// The error; nil if there is a value.
    public var error: Failure? {
        if case .failure(let error) = result { error } else { nil }
    }
}

/// Alamofire's errors: the cases and properties that the adapter reads.
public enum AFError: Error, Sendable {
    /// The request was canceled.
    case explicitlyCancelled
    /// The session was deinitialized.
    case sessionDeinitialized
    /// The session's task failed.
    case sessionTaskFailed(error: any Error)

    /// Whether the request was canceled.
    public var isExplicitlyCancelledError: Bool {
        if case .explicitlyCancelled = self { true } else { false }
    }

    /// The underlying error.
    public var underlyingError: (any Error)? {
        if case .sessionTaskFailed(let error) = self { error } else { nil }
    }
}
