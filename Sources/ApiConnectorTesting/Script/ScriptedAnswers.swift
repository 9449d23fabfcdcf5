// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// The answers to some requests, in order of declaration.
///
/// ```swift
/// script.on(.me).answer(.status(503), times: 2).answer(Author.sample, times: .atLeastOnce)
/// ```
public struct ScriptedAnswers<Router: ApiRouter>: Sendable {
    let engine: ScriptEngine
    let index: Int
    let coding: CannedCoding<Router>
    let name: String

    /// Adds a canned answer.
    ///
    /// - Parameters:
    ///   - response: The answer. For a server that stays silent, use ``TestConnectorResponse/never``.
    ///   - count: How often the answer is given; once by default.
    ///   - fileID: The caller's file, filled in by the compiler.
    ///   - filePath: The path of the caller's file, filled in by the compiler.
    ///   - line: The caller's line, filled in by the compiler.
    @discardableResult
    public func answer(
        _ response: TestConnectorResponse,
        times count: AnswerCount = 1,
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line
    ) -> Self {
        let place = CodeLocation(fileID, filePath, line)
        return add(.response(checked(at: place) { () throws(Misfit) in try coding.response(response) }), count, place)
    }

    /// Adds a value as the answer, in the router's envelope.
    ///
    /// The script's encoder encodes the value. If the script has no encoder, the encoder of the calling connection
    /// does.
    ///
    /// To check the body, the script also decodes it. If that fails, the script has an issue, and the call fails.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - status: The status; 200 by default.
    ///   - headers: Header fields in addition to `Content-Type: application/json`; none by default.
    ///   - count: How often the answer is given; once by default.
    ///   - fileID: The caller's file, filled in by the compiler.
    ///   - filePath: The path of the caller's file, filled in by the compiler.
    ///   - line: The caller's line, filled in by the compiler.
    @discardableResult
    public func answer<Value: Codable & Sendable>(
        _ value: Value,
        status: HTTPStatus = 200,
        headers: HTTPHeaders = HTTPHeaders(),
        times count: AnswerCount = 1,
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line
    ) -> Self {
        let place = CodeLocation(fileID, filePath, line)
        let response = checked(at: place) { () throws(Misfit) in try coding.response(holding: value, status, headers) }
        return add(.response(response), count, place)
    }

    /// Adds a backend error as the answer, in the router's envelope.
    ///
    /// - Parameters:
    ///   - failure: The error, of the envelope's failure type.
    ///   - status: The status. The default is 200 if the envelope decodes the body of a 200 as an error; otherwise it
    ///     is 400, as for ``/ApiConnector/BareEnvelope``. It is an issue if, with this status, the envelope decodes
    ///     the body as a value.
    ///   - count: How often the answer is given; once by default.
    ///   - fileID: The caller's file, filled in by the compiler.
    ///   - filePath: The path of the caller's file, filled in by the compiler.
    ///   - line: The caller's line, filled in by the compiler.
    @discardableResult
    public func answer(
        failure: Router.EnvelopeType.Failure,
        status: HTTPStatus? = nil,
        times count: AnswerCount = 1,
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line
    ) -> Self where Router.EnvelopeType.Failure: Encodable {
        let place = CodeLocation(fileID, filePath, line)
        let response = checked(at: place) { () throws(Misfit) in try coding.response(reporting: failure, status) }
        return add(.response(response), count, place)
    }

    /// Adds an answer that a closure makes from the request.
    ///
    /// The answer is checked like a canned answer.
    ///
    /// - Parameters:
    ///   - count: How often the answer is given; once by default.
    ///   - fileID: The caller's file, filled in by the compiler.
    ///   - filePath: The path of the caller's file, filled in by the compiler.
    ///   - line: The caller's line, filled in by the compiler.
    ///   - compute: Makes the answer; called once for each request.
    @discardableResult
    public func answer(
        times count: AnswerCount = 1,
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        _ compute: @escaping @Sendable (RecordedRequest) async throws -> TestConnectorResponse
    ) -> Self {
        let place = CodeLocation(fileID, filePath, line)
        // The engine holds this closure, so the closure holds the engine weakly.
        let answer = AnswerStep.Answer.computed { [weak engine, index, coding, name] request in
            let response = try await compute(request)
            guard let engine else { return response }
            let answers = Self(engine: engine, index: index, coding: coding, name: name)
            return answers.checked(at: place) { () throws(Misfit) in try coding.response(response) }
        }
        return add(answer, count, place)
    }

    /// Adds an answer that waits until the test releases it.
    ///
    /// Use it to test a loading state, for example.
    ///
    /// The script has no timeout for the wait. The call waits as for a silent server: until the release, a timeout of
    /// the call, a cancel or the script's end.
    ///
    /// - Returns: The held answer. Call its ``HeldAnswer/release(_:)`` to release it.
    public func hold(
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line
    ) -> HeldAnswer<Router> {
        let place = CodeLocation(fileID, filePath, line)
        let hold = Hold(at: place)
        _ = add(.held(hold), 1, place)
        return HeldAnswer(hold: hold, answers: self)
    }

    private func add(_ answer: AnswerStep.Answer, _ count: AnswerCount, _ place: CodeLocation) -> Self {
        engine.add(AnswerStep(answer: answer, count: count, place: place), to: index)
        return self
    }

    /// Returns the answer if it matches its route.
    ///
    /// Otherwise returns an answer that fails, and records an issue.
    func checked(
        at place: CodeLocation,
        _ make: () throws(Misfit) -> TestConnectorResponse
    ) -> TestConnectorResponse {
        do throws(Misfit) {
            return try make()
        } catch {
            let text = IssueText.unfit(name, at: place, error.sentence)
            engine.add(.unfit, IssueText.sentence(text), at: place)
            return .failure(ApiConnectorError(.unmatched, text))
        }
    }
}

/// How often an answer is given.
public struct AnswerCount: Sendable, Hashable, ExpressibleByIntegerLiteral {
    package let minimum: Int
    package let maximum: Int

    package init(_ minimum: Int, _ maximum: Int) {
        self.minimum = minimum
        self.maximum = maximum
    }

    /// Exactly this number of times; zero or a negative number means never.
    public init(integerLiteral value: Int) {
        self.init(exactly: value)
    }

    /// Exactly this number of times; zero or a negative number means never.
    public init(exactly count: Int) {
        self.init(max(count, 0), max(count, 0))
    }

    /// Any number of times, but at least once.
    ///
    /// If the answer is never used, that is an issue.
    public static let atLeastOnce = AnswerCount(1, .max)

    /// Any number of times, including none.
    public static let anyNumber = AnswerCount(0, .max)
}

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
        release { (coding) throws(Misfit) in try coding.response(response) }
    }

    /// Releases a value as the answer.
    ///
    /// The value is encoded and checked like a declared value.
    public func release<Value: Codable & Sendable>(
        _ value: Value,
        status: HTTPStatus = 200,
        headers: HTTPHeaders = HTTPHeaders()
    ) {
        release { (coding) throws(Misfit) in try coding.response(holding: value, status, headers) }
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
        release { (coding) throws(Misfit) in try coding.response(reporting: failure, status) }
    }

    private func release(_ make: (CannedCoding<Router>) throws(Misfit) -> TestConnectorResponse) {
        hold.answer.set(answers.checked(at: hold.place) { () throws(Misfit) in try make(answers.coding) })
    }
}
