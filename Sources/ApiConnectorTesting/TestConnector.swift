// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A mock provider that answers with canned responses, without a network.
///
/// Make it from an instance of a source or from a closure, or name the source in a type alias:
///
/// ```swift
/// typealias TestConnection = NetworkConnector<TestConnector<PostsResponses>, Router>
/// let api = ApiConnection(provider: TestConnector(PostsResponses()))
/// let api = ApiConnection(provider: TestConnector { request in .json([Post.sample]) })
/// ```
///
/// It follows the rules of a transport:
///
/// - A redirect is delivered, not followed.
/// - HEAD, 204 and 304 have no body.
/// - A body that exceeds the size limit fails the call.
/// - A call whose task is canceled ends at once, unless the source itself waits and ignores the cancel.
public struct TestConnector<Responses: ResponseSource>: DataRequestType {
    private let responses: Responses
    /// The source, if it records how its responses end.
    private let exchangeSource: (any GivenResponseSource)?

    /// Makes a provider from a source of responses.
    public init(_ responses: Responses) {
        self.responses = responses
        exchangeSource = responses as? any GivenResponseSource
    }

    /// Answers a request from the source.
    ///
    /// - Throws: `ApiConnectorError`: the error of the source, mapped as ``ResponseSource`` documents.
    public func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try request.checkSendable()
        // Comparing the types costs less than a cast.
        if exchangeSource == nil, !request.isTimeLimited, type(of: request.timeSource) == SystemTimeSource.self {
            return try await immediateAnswer(to: request)
        }
        return try await request.withTimeLimits { (request) throws(ApiConnectorError) in
            if request.isTimeLimited {
                return try await ApiConnectorError.mapping(request) { try await answer(to: request) }
            }
            do {
                return try await answer(to: request)
            } catch {
                throw ApiConnectorError(mapping: error, request: request)
            }
        }
    }

    /// Answers without time limits if the source's answer is complete, because setting limits up takes as long as the
    /// whole answer.
    @inline(__always)
    private func immediateAnswer(to request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        do {
            try Task.checkCancellation()
            let answer = try await responses.response(for: request).coded(for: request)
            let response =
                if let response = answer.whole(to: request) { response } else {
                    try await request.withTimeLimits { (request) throws(ApiConnectorError) in
                        do {
                            return try await GivenResponse(canned: answer).delivered(to: request)
                        } catch {
                            throw ApiConnectorError(mapping: error, request: request)
                        }
                    }
                }
            request.reportBodySent()
            return response
        } catch {
            throw ApiConnectorError(mapping: error, request: request)
        }
    }

    @inline(__always)
    private func answer(to request: ApiRequest) async throws -> ApiResponse {
        try Task.checkCancellation()
        let stopwatch = Stopwatch(request.timeSource)
        do {
            var response = try await delivered(to: request)
            stopwatch?.time(&response)
            request.reportBodySent()
            return response
        } catch let error as ApiConnectorError {
            throw stopwatch?.timed(error) ?? error
        }
    }

    @inline(__always)
    private func delivered(to request: ApiRequest) async throws -> ApiResponse {
        if let exchangeSource {
            var given = try await exchangeSource.given(to: request)
            given.canned = given.canned.coded(for: request)
            return try await given.delivered(to: request)
        }
        let answer = try await responses.response(for: request).coded(for: request)
        if let response = answer.whole(to: request) { return response }
        return try await GivenResponse(canned: answer).delivered(to: request)
    }
}

extension TestConnector: DefaultDataRequestType where Responses: ResponseProvider {
    /// Makes a provider with a new source.
    public init() {
        self.init(Responses())
    }
}

extension TestConnector where Responses == ClosureResponses {
    /// Makes a provider from a closure.
    ///
    /// The closure is called once for each request.
    public init(_ response: @escaping @Sendable (ApiRequest) async throws -> TestConnectorResponse) {
        self.init(ClosureResponses(response))
    }
}
