// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// From a streamed response to its chunks: validation by head and first chunk.
struct StreamedReader: Sendable {
    let response: ApiResponse
    let settings: CallSettings

    /// The most bytes that are read of a body that was not accepted, for its error.
    private static var errorByteCount: Int { 1 << 20 }

    /// What a parser has to know.
    var context: StreamContext {
        StreamContext(
            mediaType: response.mediaType,
            decoder: settings.configuration.decoder,
            maximumRecordByteCount: settings.configuration.maximumRecordByteCount,
            maximumBodyByteCount: settings.configuration.maximumBodyByteCount,
            wholeReader: self
        )
    }

    /// The chunks of a response that is accepted.
    ///
    /// - Throws: ``ApiConnectorError`` as a call that collects its body would, the backend's own error included.
    func accepted() async throws(ApiConnectorError) -> ResponseBody.AsyncIterator {
        var chunks = response.body.makeAsyncIterator()
        let first = try await chunks.next()
        do throws(ApiConnectorError) {
            try settings.configuration.validation.validate(response, first ?? Data())
        } catch {
            let body = await beginning(first, &chunks)
            try reader(body).check()
            // Accepted after all: the check is one that looks at the whole body.
            return ResponseBody(body).makeAsyncIterator()
        }
        chunks.putBack(first)
        return chunks
    }

    /// As much of a body that was not accepted as its error can show.
    private func beginning(_ first: Data?, _ chunks: inout ResponseBody.AsyncIterator) async -> Data {
        var body = first ?? Data()
        while body.count < Self.errorByteCount, let chunk = try? await chunks.next() { body += chunk }
        return body
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

/// A response whose head has come, and whose body is on its way.
struct StreamedAnswer: Sendable {
    let reader: StreamedReader

    /// What the errors of the body do not know: request, head, time.
    let completing: @Sendable (ApiConnectorError) -> ApiConnectorError

    var response: ApiResponse { reader.response }

    /// The chunks of a response that is accepted.
    func accepted() async throws(ApiConnectorError) -> ResponseBody.AsyncIterator {
        do throws(ApiConnectorError) {
            return try await reader.accepted()
        } catch {
            throw completing(error)
        }
    }
}
