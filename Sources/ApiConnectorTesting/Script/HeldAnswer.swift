// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// An answer that a test gives when it wants to.
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

    /// Waits until it is asked for, and tells by which request.
    ///
    /// - Parameter limit: The longest wait; a minute by default.
    /// - Throws: `CancellationError`; an error that says so when nobody has asked in time.
    public func request(within limit: Duration = .seconds(60)) async throws -> RecordedRequest {
        try await hold.arrival.value(
            within: limit,
            orSay: "no request asked for the answer held at \(hold.place)"
        )
    }

    /// Gives the answer, to the request that waits or to the one that comes; a second release changes nothing.
    public func release(_ response: TestConnectorResponse) {
        hold.answer.set(answers.checked(.success(response), at: hold.place))
    }

    /// Gives a value as the answer, encoded and checked like one that is declared.
    public func release<Value: Codable & Sendable>(
        _ value: Value,
        status: HTTPStatus = 200,
        headers: HTTPHeaders = HTTPHeaders()
    ) {
        hold.answer.set(answers.checked(answers.coding.response(holding: value, status, headers), at: hold.place))
    }

    /// Gives an error of the backend's own as the answer, in the router's envelope and checked like one that is declared.
    ///
    /// - Parameters:
    ///   - failure: The error, of the type that the router's envelope names.
    ///   - status: The status; by default one with which the envelope takes the body for an error.
    public func release(
        failure: Router.EnvelopeType.Failure,
        status: HTTPStatus? = nil
    ) where Router.EnvelopeType.Failure: Encodable {
        hold.answer.set(answers.checked(answers.coding.response(reporting: failure, status), at: hold.place))
    }
}
