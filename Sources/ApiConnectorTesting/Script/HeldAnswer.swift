// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// An answer that waits until the test releases it.
///
/// ```swift
/// let answer = script.on(.list).hold()
/// let refreshing = Task { await screen.refresh() }
/// _ = try await answer.request()
/// #expect(screen.lines == ["LOADING…"])
/// answer.release([pug])
/// ```
public struct HeldAnswer<Router: ApiRouter>: Sendable {
    let hold: Hold
    let answers: ScriptedAnswers<Router>

    /// Waits until a request asks for the answer, and returns the request.
    ///
    /// - Parameter limit: The longest wait; one minute by default.
    /// - Throws: `CancellationError` if the task is canceled; another error if no request asks for the answer in time.
    public func request(within limit: Duration = .seconds(60)) async throws -> RecordedRequest {
        try await hold.arrival.value(
            within: limit,
            orSay: "no request asked for the answer held at \(hold.place)"
        )
    }

    /// Releases the answer: to the request that waits for it, or to the next request that asks for it.
    ///
    /// A second release does nothing.
    public func release(_ response: TestConnectorResponse) {
        hold.answer.set(answers.checked(.success(response), at: hold.place))
    }

    /// Releases a value as the answer.
    ///
    /// The value is encoded and checked like a declared value.
    public func release<Value: Codable & Sendable>(
        _ value: Value,
        status: HTTPStatus = 200,
        headers: HTTPHeaders = HTTPHeaders()
    ) {
        hold.answer.set(answers.checked(answers.coding.response(holding: value, status, headers), at: hold.place))
    }

    /// Releases a backend error as the answer, in the router's envelope.
    ///
    /// The error is checked like a declared error.
    ///
    /// - Parameters:
    ///   - failure: The error, of the envelope's failure type.
    ///   - status: The status; by default a status with which the envelope decodes the body as an error.
    public func release(
        failure: Router.EnvelopeType.Failure,
        status: HTTPStatus? = nil
    ) where Router.EnvelopeType.Failure: Encodable {
        hold.answer.set(answers.checked(answers.coding.response(reporting: failure, status), at: hold.place))
    }
}
