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
            return try await answer(to: request)
        }
        return try await request.withTimeLimits { (request) throws(ApiConnectorError) in
            guard request.isTimeLimited else { return try await answer(to: request) }
            return try await ApiConnectorError.mapping(request) { try await answer(to: request) }
        }
    }

    @inline(__always)
    private func answer(to request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        let stopwatch = Stopwatch(request.timeSource)
        do {
            try Task.checkCancellation()
            var response = try await given(to: request).delivered(to: request)
            stopwatch?.time(&response)
            request.reportBodySent()
            return response
        } catch {
            let error = ApiConnectorError(mapping: error, request: request)
            throw stopwatch?.timed(error) ?? error
        }
    }

    @inline(__always)
    private func given(to request: ApiRequest) async throws -> GivenResponse {
        if let exchangeSource { return try await exchangeSource.given(to: request) }
        return GivenResponse(canned: try await responses.response(for: request))
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

/// A source of answers for a test double.
public protocol ResponseSource: Sendable {
    /// Returns the answer to a request.
    ///
    /// - Throws: The call's error. An `ApiConnectorError` is thrown unchanged. A `URLError` is mapped as a transport
    ///   maps it. Any other error becomes kind `.other`.
    func response(for request: ApiRequest) async throws -> TestConnectorResponse
}

/// A source of answers that can be made without arguments, so that a type alias can select it.
///
/// ```swift
/// struct PostsResponses: ResponseProvider {
///     func response(for request: ApiRequest) async throws -> TestConnectorResponse {
///         .json([Post.sample])
///     }
/// }
/// ```
public protocol ResponseProvider: ResponseSource {
    /// Makes the source.
    init()
}

/// A closure as a source of answers.
public struct ClosureResponses: ResponseSource {
    private let answer: @Sendable (ApiRequest) async throws -> TestConnectorResponse

    init(_ answer: @escaping @Sendable (ApiRequest) async throws -> TestConnectorResponse) {
        self.answer = answer
    }

    /// Returns the closure's answer.
    public func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        try await answer(request)
    }
}

/// Measures one canned exchange on a test's clock: the wait for the head, and the body.
private struct Stopwatch: Sendable {
    private let timeSource: any TimeSource
    private let start: Duration

    /// Returns nil for the machine's clock.
    ///
    /// On that clock, the time of a canned response means nothing. The clock is also expensive to read.
    init?(_ timeSource: any TimeSource) {
        guard type(of: timeSource) != SystemTimeSource.self else { return nil }
        self.timeSource = timeSource
        start = timeSource.now
    }

    /// Sets the timing of a response.
    ///
    /// A streamed body is measured until its end.
    func time(_ response: inout ApiResponse) {
        let record = TransportTimesRecord()
        let head = timeSource.now
        record.update { times in
            times[.responseWait] = head - start
            times[.receiving] = .zero
        }
        response.timesRecord = record
        if let body = response.body.collected {
            return record.update { $0.decodedBodyByteCount = Int64(body.count) }
        }
        guard
            let body = try? response.body.transformed(
                { $0 },
                onEnd: { [timeSource] _ in
                    let end = timeSource.now
                    record.update { $0[.receiving] = end - head }
                }
            )
        else { return }
        response.body = body
    }

    /// Sets the timing of a failure.
    func timed(_ error: ApiConnectorError) -> ApiConnectorError {
        guard error.timesRecord == nil else { return error }
        var error = error
        let record = TransportTimesRecord()
        record.update { $0[.responseWait] = timeSource.now - start }
        error.timesRecord = record
        return error
    }
}
