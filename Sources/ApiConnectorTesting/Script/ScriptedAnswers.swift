// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// The answers to some requests, in the order in which they are declared.
///
/// ```swift
/// script.on(.me).answer(.status(503), times: 2).answer(Author.sample, times: .atLeastOnce)
/// ```
public struct ScriptedAnswers<Router: ApiRouter>: Sendable {
    let engine: ScriptEngine
    let index: Int
    let coding: CannedCoding<Router>
    let name: String

    /// Then a canned answer.
    ///
    /// - Parameters:
    ///   - response: The answer; ``TestConnectorResponse/never`` for a server that stays silent.
    ///   - count: How often; once by default.
    ///   - fileID: Where it is declared; left out.
    ///   - filePath: Where it is declared; left out.
    ///   - line: Where it is declared; left out.
    @discardableResult
    public func answer(
        _ response: TestConnectorResponse,
        times count: AnswerCount = 1,
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line
    ) -> Self {
        let place = CodeLocation(fileID, filePath, line)
        return add(.response(checked(.success(response), at: place)), count, place)
    }

    /// Then a value in the router's envelope, encoded with the script's configuration; without one, with the encoder of
    /// the connection that asks.
    ///
    /// It is decoded back at once: a value that does not come back is an issue, and the call fails.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - status: The status; 200 by default.
    ///   - headers: Header fields beside `Content-Type: application/json`; none by default.
    ///   - count: How often; once by default.
    ///   - fileID: Where it is declared; left out.
    ///   - filePath: Where it is declared; left out.
    ///   - line: Where it is declared; left out.
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
        return add(.response(checked(coding.response(holding: value, status, headers), at: place)), count, place)
    }

    /// Then an error of the backend's own, in the router's envelope.
    ///
    /// - Parameters:
    ///   - failure: The error, of the type that the router's envelope names.
    ///   - status: The status. By default 200 where the envelope finds errors in such a response, and 400 where it does
    ///     not, as ``/ApiConnector/BareEnvelope``. A status with which the body is a value is an issue.
    ///   - count: How often; once by default.
    ///   - fileID: Where it is declared; left out.
    ///   - filePath: Where it is declared; left out.
    ///   - line: Where it is declared; left out.
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
        return add(.response(checked(coding.response(reporting: failure, status), at: place)), count, place)
    }

    /// Then what a closure makes of the request, checked as a canned answer is, when it is made.
    ///
    /// - Parameters:
    ///   - count: How often; once by default.
    ///   - fileID: Where it is declared; left out.
    ///   - filePath: Where it is declared; left out.
    ///   - line: Where it is declared; left out.
    ///   - compute: Called once for each request that it answers.
    @discardableResult
    public func answer(
        times count: AnswerCount = 1,
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        _ compute: @escaping @Sendable (RecordedRequest) async throws -> TestConnectorResponse
    ) -> Self {
        let place = CodeLocation(fileID, filePath, line)
        // The engine keeps the closure.
        let answer = AnswerStep.Answer.computed { [weak engine, index, coding, name] request in
            let response = try await compute(request)
            guard let engine else { return response }
            return Self(engine: engine, index: index, coding: coding, name: name).checked(.success(response), at: place)
        }
        return add(answer, count, place)
    }

    /// Then an answer that the test gives when it wants to: until then the call is loading.
    ///
    /// No limit of the script's own ends that, for it is what the test is about: the call waits as for a server that is
    /// silent, for a release, its own limits of time, a cancel or the script's end.
    ///
    /// - Returns: What releases it.
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

    /// The answer if it fits; else one that fails, and an issue.
    func checked(
        _ response: Result<TestConnectorResponse, Misfit>,
        at place: CodeLocation
    ) -> TestConnectorResponse {
        do throws(Misfit) {
            let response = coding.written(try response.get())
            try coding.check(response)
            return response
        } catch {
            let text = "the answer declared at \(place) does not fit \(name): \(error.sentence)"
            engine.add(.unfit, text.prefix(1).uppercased() + text.dropFirst() + ".", at: place)
            return .failure(ApiConnectorError(.unmatched, text))
        }
    }
}
