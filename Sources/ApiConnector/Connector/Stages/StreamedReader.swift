// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// From a streamed response to its chunks: validation, by the head as far as that goes.
struct StreamedReader: Sendable {
    let response: ApiResponse
    let settings: CallSettings

    /// The most bytes that are read of a body that was not accepted, for its error.
    private static var errorByteCount: Int { 1 << 20 }

    /// How long its end is waited for, where nobody knows how far off that is.
    private static var errorTime: Duration { .seconds(1) }

    /// What a parser has to know.
    var context: StreamContext {
        StreamContext(
            mediaType: response.mediaType,
            decoder: settings.configuration.decoder,
            maximumRecordByteCount: settings.configuration.maximumRecordByteCount,
            maximumBodyByteCount: settings.configuration.maximumBodyByteCount,
            wholeReader: self,
            forbidsBody: response.forbidsBody,
            backendFailure: { reader($0).backendFailure },
            redactor: { [request = response.request] in request.textRedactor }
        )
    }

    /// The chunks of a response that is accepted: by its head, and by its first chunk where a check looks into the
    /// body.
    ///
    /// - Throws: ``ApiConnectorError`` as a call that collects its body would, the backend's own error included.
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

    /// The chunks of a response that was refused, if it is accepted after all: where there is no body, or by a check
    /// that looks at the whole of it.
    private func reconsidered(
        _ refusal: ApiConnectorError,
        _ first: Data?,
        _ chunks: ResponseBody.AsyncIterator
    ) async throws(ApiConnectorError) -> ResponseBody.AsyncIterator {
        var chunks = chunks
        var body = first ?? Data()
        let goesOn = try await readBeginning(&body, of: &chunks)
        // What has not come is not what was refused.
        if body.isEmpty, !goesOn { throw refusal }
        try reader(body).check()
        guard goesOn else { throw refusal }
        chunks.putBack(body.isEmpty ? nil : body)
        return chunks
    }

    /// Reads as much of a body that was not accepted as its error can show, and never for long: a feed does not end.
    ///
    /// - Returns: Whether the rest can be read; false where the time was over or the body broke off.
    /// - Throws: ``ApiConnectorError`` of kind `.cancelled` or `.deadlineExceeded`: what ended the call, and no answer.
    private func readBeginning(
        _ body: inout Data,
        of chunks: inout ResponseBody.AsyncIterator
    ) async throws(ApiConnectorError) -> Bool {
        let isCut = Locked(false)
        let timers = settings.configuration.timers
        var limit: TimerQueue.Entry?
        if let reader = response.body.reader, response.wholeByteCount ?? .max > Self.errorByteCount {
            limit = timers.add(at: timers.timeSource.now + Self.errorTime) {
                isCut.withLock { $0 = true }
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
        return !isCut.withLock { $0 }
    }

    private func reader(_ body: Data) -> ResponseReader {
        ResponseReader(response: response, body: body, settings: settings)
    }
}

extension StreamedReader: WholeBodyReader {
    func read<Value: Decodable>(_ type: Value.Type, from body: Data) throws(ApiConnectorError) -> Value {
        try reader(body).read(type)
    }
}
