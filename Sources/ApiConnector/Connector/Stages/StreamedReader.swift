// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Validates a streamed response, by its head if possible, and returns its chunks.
struct StreamedReader: Sendable {
    let response: ApiResponse
    let settings: CallSettings

    /// The maximum number of body bytes to read for the error of a rejected response.
    private static var errorByteCount: Int { 1 << 20 }

    /// The time limit for reading such a body if its length is unknown or large.
    private static var errorTime: Duration { .seconds(1) }

    /// The context of the parser.
    var context: StreamContext {
        StreamContext(
            mediaType: response.mediaType,
            decoder: settings.configuration.decoder,
            maximumRecordByteCount: settings.configuration.maximumRecordByteCount,
            maximumBodyByteCount: settings.configuration.maximumBodyByteCount,
            wholeReader: self,
            forbidsBody: response.forbidsBody,
            envelope: settings.envelope,
            backendFailure: { wholeResponse($0).backendError },
            redactor: { [request = response.request] in request.textRedactor }
        )
    }

    /// The chunks of an accepted response.
    ///
    /// Validation uses the head, and the first chunk if a check inspects the body.
    ///
    /// - Throws: ``ApiConnectorError`` as a call that collects its body does, including the backend's own error.
    func accepted() async throws(ApiConnectorError) -> ResponseBody.AsyncIterator {
        let validation = settings.configuration.validation
        var chunks = response.body.makeAsyncIterator()
        do throws(ApiConnectorError) {
            try validation.validate(response, nil)
        } catch {
            return try await reconsidered(error, nil, chunks)
        }
        guard validation.looksIntoBody else { return chunks }
        let first = try await chunks.next()
        do throws(ApiConnectorError) {
            try validation.validate(response, first ?? Data())
        } catch {
            return try await reconsidered(error, first, chunks)
        }
        chunks.putBack(first)
        return chunks
    }

    /// Checks a rejected response again with its body, and returns the chunks if it is now accepted.
    ///
    /// For example, a response is accepted after all if its body is empty, or if a check needs more than the first
    /// chunk.
    private func reconsidered(
        _ refusal: ApiConnectorError,
        _ first: Data?,
        _ chunks: ResponseBody.AsyncIterator
    ) async throws(ApiConnectorError) -> ResponseBody.AsyncIterator {
        var chunks = chunks
        var body = first ?? Data()
        let goesOn = try await readBeginning(&body, of: &chunks)
        // Reading failed before the first byte, so the body is not known to be empty.
        if body.isEmpty, !goesOn { throw refusal }
        try wholeResponse(body).check()
        guard goesOn else { throw refusal }
        chunks.putBack(body.isEmpty ? nil : body)
        return chunks
    }

    /// Reads the beginning of a rejected body, which may contain the backend's error.
    ///
    /// The time is limited, because a feed does not end.
    ///
    /// - Returns: Whether the rest can be read; false if the time limit or a broken connection ended the reading.
    /// - Throws: ``ApiConnectorError`` of kind `.cancelled` or `.deadlineExceeded`, which end the call.
    private func readBeginning(
        _ body: inout Data,
        of chunks: inout ResponseBody.AsyncIterator
    ) async throws(ApiConnectorError) -> Bool {
        let hasTimedOut = Locked(false)
        let timers = settings.configuration.timers
        var limit: TimerQueue.Entry?
        if let reader = response.body.reader, response.wholeByteCount ?? .max > Self.errorByteCount {
            limit = timers.add(at: timers.timeSource.now + Self.errorTime) {
                hasTimedOut.withLock { $0 = true }
                reader.cancel()
            }
        }
        defer { if let limit { timers.remove(limit) } }
        do throws(ApiConnectorError) {
            while body.count < Self.errorByteCount, let chunk = try await chunks.next() { body += chunk }
        } catch {
            if Task.isCancelled || error.kind == .deadlineExceeded { throw error }
            return false
        }
        return !hasTimedOut.withLock { $0 }
    }

    private func wholeResponse(_ body: Data) -> ResponseReader {
        ResponseReader(response: response, body: body, settings: settings)
    }
}

extension StreamedReader: WholeBodyDecoding {
    func read<Value: Decodable>(_ type: Value.Type, from body: Data) throws(ApiConnectorError) -> Value {
        try wholeResponse(body).read(type)
    }
}
