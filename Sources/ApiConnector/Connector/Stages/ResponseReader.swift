// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Turns a collected response into the call's result: validation, envelope, value.
struct ResponseReader: Sendable {
    let response: ApiResponse
    let body: Data
    let settings: CallSettings

    /// The decoded value.
    func read<Value: Decodable>(_ type: Value.Type) throws(ApiConnectorError) -> Value {
        try validate()
        if body.isEmpty || response.forbidsBody { return try absent(type) }
        // This has the same result as opening the default envelope, but needs no type metadata of envelopes.
        if settings.envelope == BareEnvelope<NoFailure>.self { return try decode(type) }
        return try open(settings.envelope, for: type)
    }

    /// Throws if the response is not acceptable or contains the backend's own error.
    ///
    /// A body with a media type other than JSON is not searched for errors.
    func check() throws(ApiConnectorError) {
        try validate()
        guard settings.envelope.wrapsValues, response.mediaType?.isJSON != false, let failure else { return }
        throw backendError(with: failure)
    }

    /// Whether decoding may take so long that the deadline and a cancellation must be able to end the wait.
    ///
    /// Decoding 256 KiB takes about 1 ms.
    var isLarge: Bool { body.count >= 256 * 1024 }

    /// Decodes in its own task, and stops waiting for it when the deadline passes or the call is canceled.
    ///
    /// A decoder cannot be interrupted: it runs to its end, and its result is discarded.
    func readInTask<Outcome: Sendable>(
        _ read: @escaping @Sendable (ResponseReader) throws(ApiConnectorError) -> Outcome
    ) async throws(ApiConnectorError) -> Outcome {
        return try await response.request.leavingBehind { try read(self) }
    }

    private func validate() throws(ApiConnectorError) {
        do throws(ApiConnectorError) {
            try settings.configuration.validation.validate(response, body)
        } catch {
            if let failure { throw backendError(with: failure) }
            throw withProblem(error)
        }
    }

    private func decode<Value: Decodable>(_ type: Value.Type) throws(ApiConnectorError) -> Value {
        do {
            return try settings.configuration.decoder.value(type, in: body)
        } catch {
            throw openingError(type, error)
        }
    }

    private func open<Value: Decodable, Envelope: ApiEnvelope>(
        _ envelope: Envelope.Type,
        for type: Value.Type
    ) throws(ApiConnectorError) -> Value {
        let content: EnvelopeContent<Value, Envelope.Failure>
        do {
            content = try Envelope.open(type, from: body, with: settings.configuration.decoder)
        } catch {
            throw openingError(type, error)
        }
        switch content {
        case .value(let value): return value
        case .failure(let failure): throw backendError(with: failure)
        }
    }

    private func openingError(_ type: Any.Type, _ error: any Error) -> ApiConnectorError {
        if let failure { return backendError(with: failure) }
        return withProblem(undecodable(type, error))
    }

    /// The backend's own error, if the body contains one.
    private var failure: (any Sendable)? {
        settings.envelope.failure(in: body, with: settings.configuration.decoder)
    }

    /// The error of a call whose body contains the backend's own error; nil if the body contains no such error.
    var backendError: ApiConnectorError? { failure.map(backendError(with:)) }

    private func backendError(with failure: any Sendable) -> ApiConnectorError {
        let detail = "the backend answered \(response.status) and reported its own error"
        var error = ApiConnectorError(.backendFailure, at: .envelope, detail, response: response, body: body)
        error.backendFailure = failure
        error.problem = (failure as? ProblemDetails)?.redacted(by: response.request.textRedactor)
        return withProblem(error)
    }

    /// Adds problem details to an error if the response has their media type.
    private func withProblem(_ error: ApiConnectorError) -> ApiConnectorError {
        guard error.problem == nil, response.mediaType?.matches(.problemJSON) == true else { return error }
        var error = error
        let problem = try? settings.configuration.decoder.decode(ProblemDetails.self, from: body)
        error.problem = problem?.redacted(by: response.request.textRedactor)
        return error
    }

    private func absent<Value>(_ type: Value.Type) throws(ApiConnectorError) -> Value {
        if let absent = AbsentValue.of(type) { return absent }
        let detail =
            "the server answered \(response.status) without a body, but the call expects a value of type \(type); "
            + "expect \(type)? if the body can be empty, or call send(at:) if no value is needed"
        throw ApiConnectorError(.decodingFailed, at: .value, detail, response: response, body: body)
    }

    private func undecodable(_ type: Any.Type, _ error: any Error) -> ApiConnectorError {
        let failure = DecodingFailure(
            error,
            in: body,
            as: type,
            with: settings.configuration.decoder,
            isRecord: false,
            mediaType: response.mediaType,
            response.request.textRedactor
        )
        return ApiConnectorError(
            .decodingFailed,
            at: .value,
            "the body does not decode as \(type): \(failure.reason)",
            response: response,
            body: body,
            underlying: error
        )
        .advising(failure.advice)
    }
}

/// The results of the calls that collect their response.
extension ResponseReader {
    static func value<Value: Decodable>(of reader: Self) throws(ApiConnectorError) -> Value {
        try reader.read(Value.self)
    }

    static func decoded<Value: Decodable>(by reader: Self) throws(ApiConnectorError) -> DecodedResponse<Value> {
        let response = reader.response
        return DecodedResponse(
            value: try reader.read(Value.self),
            head: response.head,
            timesRecord: response.timesRecord
        )
    }

    static func outcome<Value: Decodable, Failure>(
        of reader: Self
    ) throws(ApiConnectorError) -> ApiOutcome<Value, Failure> {
        do throws(ApiConnectorError) {
            return .success(try reader.read(Value.self))
        } catch {
            guard let failure: Failure = error.failure() else { throw error }
            return .backendFailure(failure, reader.response.head)
        }
    }

    static func response(of reader: Self) throws(ApiConnectorError) -> ApiResponse {
        var response = reader.response
        response.body = ResponseBody(try data(of: reader))
        return response
    }

    static func data(of reader: Self) throws(ApiConnectorError) -> Data {
        try reader.check()
        return reader.body
    }

    static func nothing(of reader: Self) throws(ApiConnectorError) {
        try reader.check()
    }

    static func text(of reader: Self) throws(ApiConnectorError) -> String {
        let (response, body) = (reader.response, try data(of: reader))
        let label = (response.mediaType?[parameter: "charset"] ?? "").trimmingCharacters(in: .whitespaces).lowercased()
        func failure(_ detail: String) -> ApiConnectorError {
            ApiConnectorError(.decodingFailed, at: .value, detail, response: response, body: body)
        }
        guard let charset = Charset(label, of: body) else {
            throw failure("the body's charset \"\(label)\" is not supported; data(at:) returns the bytes")
        }
        guard let text = charset.text(of: body) else {
            throw failure("the body is not valid text in the response's charset \"\(label)\"")
        }
        return text.first == "\u{FEFF}" ? String(text.dropFirst()) : text
    }
}
