// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// The provider that answers from canned responses, with nothing on the wire.
///
/// Named by a type alias, made from an instance, or from a closure:
///
/// ```swift
/// typealias TestConnection = NetworkConnector<TestConnector<PostsResponses>, Router>
/// let api = ApiConnection(provider: TestConnector(PostsResponses()))
/// let api = ApiConnection(provider: TestConnector { request in .json([Post.sample]) })
/// ```
///
/// It keeps a transport's rules: a redirect is delivered, HEAD, 204 and 304 have no body, a body over the limit fails,
/// a canceled task is answered at once, unless the source itself waits and does not heed the cancel.
public struct TestConnector<Responses: ResponseSource>: DataRequestType {
    private let responses: Responses
    /// The same source, if it records how its responses end.
    private let recording: (any ExchangeSource)?

    /// Makes the provider of a source of responses.
    public init(_ responses: Responses) {
        self.responses = responses
        recording = responses as? any ExchangeSource
    }

    /// Answers from the source, once for each request.
    ///
    /// - Throws: `ApiConnectorError`: what the source threw, mapped as its answer's documentation says.
    public func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try request.checkSendable()
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
        if let recording {
            var given = try await recording.given(to: request)
            given.canned = given.canned.coded(for: request)
            return try await given.delivered(to: request)
        }
        let answer = try await responses.response(for: request).coded(for: request)
        if let response = answer.whole(to: request) { return response }
        return try await GivenResponse(canned: answer).delivered(to: request)
    }
}

extension TestConnector: DefaultDataRequestType where Responses: ResponseProvider {
    /// Makes the provider of a source that makes itself.
    public init() {
        self.init(Responses())
    }
}

extension TestConnector where Responses == ClosureResponses {
    /// Makes the provider of a closure, which is called once for each request.
    public init(_ response: @escaping @Sendable (ApiRequest) async throws -> TestConnectorResponse) {
        self.init(ClosureResponses(response))
    }
}
