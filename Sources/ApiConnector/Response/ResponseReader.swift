// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// From a collected response to what a call hands out: validation, envelope, value.
struct ResponseReader<Envelope: ApiEnvelope> {
    let response: ApiResponse
    let body: Data
    let settings: ConnectionConfiguration

    /// What a response turns out to be.
    enum Reading<Value> {
        case value(Value)
        case failure(Envelope.Failure, ApiConnectorError)
        case error(ApiConnectorError)

        /// The value, or what the call fails with.
        func get() throws(ApiConnectorError) -> Value {
            switch self {
            case .value(let value): return value
            case .failure(_, let error), .error(let error): throw error
            }
        }
    }

    /// The value that was asked for.
    func read<Value: Decodable>(_ type: Value.Type) -> Reading<Value> {
        do throws(ApiConnectorError) {
            try settings.validation.validate(response, body)
        } catch {
            return unaccepted(error)
        }
        if body.isEmpty || response.forbidsBody { return absent(type) }
        do {
            switch try Envelope.open(type, from: body, with: settings.decoder) {
            case .value(let value): return .value(value)
            case .failure(let failure): return reported(failure)
            }
        } catch {
            if let failure = Envelope.failure(in: body, with: settings.decoder) { return reported(failure) }
            return .error(withProblem(undecodable(type, error)))
        }
    }

    /// Nothing but whether the response is acceptable, the backend's own errors included.
    ///
    /// A body that says it is something else than JSON is not looked into.
    func check() -> Reading<Void> {
        do throws(ApiConnectorError) {
            try settings.validation.validate(response, body)
        } catch {
            return unaccepted(error)
        }
        guard Envelope.wrapsValues, response.mediaType?.isJSON != false,
            let failure = Envelope.failure(in: body, with: settings.decoder)
        else { return .value(()) }
        return reported(failure)
    }

    private func unaccepted<Value>(_ error: ApiConnectorError) -> Reading<Value> {
        if let failure = Envelope.failure(in: body, with: settings.decoder) { return reported(failure) }
        return .error(withProblem(error))
    }

    private func reported<Value>(_ failure: Envelope.Failure) -> Reading<Value> {
        let detail = "the backend answered \(response.status) and reported an error of its own"
        var error = ApiConnectorError(.backendFailure, at: .envelope, detail, response: response, body: body)
        error.backendFailure = failure
        error.problem = failure as? ProblemDetails
        return .failure(failure, withProblem(error))
    }

    /// The error with the problem details that the response's media type announces.
    private func withProblem(_ error: ApiConnectorError) -> ApiConnectorError {
        guard error.problem == nil, response.mediaType?.matches(.problemJSON) == true else { return error }
        var error = error
        error.problem = try? settings.decoder.decode(ProblemDetails.self, from: body)
        return error
    }

    private func absent<Value>(_ type: Value.Type) -> Reading<Value> {
        if let absent = AbsentValue.of(type) { return .value(absent) }
        let detail =
            "the server answered \(response.status) without a body, and a value of type \(type) was asked for; "
            + "ask for \(type)? where there may be none, or call send(at:) where none is wanted"
        return .error(ApiConnectorError(.decodingFailed, at: .value, detail, response: response, body: body))
    }

    private func undecodable(_ type: Any.Type, _ error: any Error) -> ApiConnectorError {
        ApiConnectorError(
            .decodingFailed,
            at: .value,
            "the body does not decode as \(type): \(CodingText.describe(error, in: body))",
            response: response,
            body: body,
            underlying: error
        )
    }
}
