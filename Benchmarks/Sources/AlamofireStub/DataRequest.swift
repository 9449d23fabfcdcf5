// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A request of a session's.
///
/// Unchecked, as Alamofire's own is, because it is no final class; what it holds is constant and `Sendable`.
public class DataRequest: @unchecked Sendable {
    private let convertible: any URLRequestConvertible
    private let answer: Session.Answer

    init(_ convertible: any URLRequestConvertible, _ answer: @escaping Session.Answer) {
        self.convertible = convertible
        self.answer = answer
    }

    /// Says what happens with redirects.
    @discardableResult
    public func redirect(using handler: any RedirectHandler) -> Self { self }

    /// The body as data, asynchronously.
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

/// What looks at data before it is serialized.
public protocol DataPreprocessor: Sendable {}

/// The preprocessor that does nothing.
public struct PassthroughPreprocessor: DataPreprocessor {
    /// Makes it.
    public init() {}
}

/// A value that is on its way.
public struct DataTask<Value: Sendable>: Sendable {
    private let run: @Sendable () async -> DataResponse<Value, AFError>

    init(_ run: @escaping @Sendable () async -> DataResponse<Value, AFError>) {
        self.run = run
    }

    /// What came.
    public var response: DataResponse<Value, AFError> {
        get async { await run() }
    }
}

/// What came of a request.
public struct DataResponse<Success: Sendable, Failure: Error>: Sendable {
    /// The head.
    public let response: HTTPURLResponse?
    /// The body.
    public let data: Data?
    /// The value, or why there is none.
    public let result: Result<Success, Failure>

    /// Why there is no value; nil where there is one.
    public var error: Failure? {
        if case .failure(let error) = result { error } else { nil }
    }
}

/// Alamofire's errors; two of them, and the two properties that the adapter reads.
public enum AFError: Error, Sendable {
    /// The request was canceled.
    case explicitlyCancelled
    /// The session is gone.
    case sessionDeinitialized
    /// The session's task failed.
    case sessionTaskFailed(error: any Error)

    /// Whether the request was canceled.
    public var isExplicitlyCancelledError: Bool {
        if case .explicitlyCancelled = self { true } else { false }
    }

    /// What caused it.
    public var underlyingError: (any Error)? {
        if case .sessionTaskFailed(let error) = self { error } else { nil }
    }
}
