// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
import ApiConnectorTesting

/// A provider that records exchanges or replays a recording; made by `recording(by:)`.
struct Recorded<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let recorder: Recorder

    init(_ wrapped: Wrapped, by recorder: Recorder) {
        self.wrapped = wrapped
        self.recorder = recorder
    }

    /// Answers from the recording, or sends the request through the wrapped provider and records the response.
    ///
    /// - Throws: The error of the wrapped provider; `ApiConnectorError` of kind `.unmatched` for a request that was not
    ///   recorded.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try request.checkSendable()
        var request = request
        // The body is read only once, because its source may not be repeatable.
        let body: Data
        do {
            body = try await request.uncompressed.body.collect(upTo: ResponseDelivery.standard.maximumByteCount)
        } catch {
            throw ApiConnectorError(mapping: error, request: request)
        }
        if request.body.isStreamed {
            request.body = .data(body, mediaType: request.body.mediaType ?? .octetStream)
        }
        if let replay = recorder.replay {
            let sent = try await replay.sent(request)
            if let answer = replay.take(sent, request) {
                return try await TestConnector { _ in answer }.response(for: request)
            }
            if recorder.mode == .replay { throw replay.miss(sent, request) }
            try refusePlaceholders(in: request, body)
        }
        return try await recording(request, body)
    }

    /// Refuses to send a placeholder to a backend.
    ///
    /// A program may have got placeholders from the recording.
    private func refusePlaceholders(in request: ApiRequest, _ body: Data) throws(ApiConnectorError) {
        let bytes = Redactor.inUTF8(body, mediaType: request.body.mediaType) ?? Array(body)
        let texts = [request.url.absoluteString, String(decoding: bytes, as: UTF8.self)] + request.headers.map(\.value)
        guard let placeholder = texts.flatMap({ Placeholder.all(in: $0) }).min() else { return }
        let text =
            "it is not in the recording, and cannot be sent with the placeholder "
            + "\(placeholder) instead of a secret; give the secret "
            + "to RecordingSecrets by its value, or record everything again with \(RecordingMode.variable)=record"
        throw ApiConnectorError(.unmatched, text, request: request)
    }

    private func recording(_ request: ApiRequest, _ body: Data) async throws(ApiConnectorError) -> ApiResponse {
        let entry = recorder.begin(request, body)
        do throws(ApiConnectorError) {
            var response = try await wrapped.response(for: request)
            entry.begin(response)
            switch request.delivery {
            case .collected(upTo: let limit):
                let data = try await response.body.collect(upTo: limit)
                entry.append(data)
                entry.end(.finished)
                response.body = ResponseBody(data)
            case .streamed:
                response.body = RecordedBody(response.body, entry).body
            }
            return response
        } catch {
            entry.end(.failed(RecordedFailure(error)))
            throw error
        }
    }
}

extension DataRequestType {
    /// Returns this provider, wrapped to record its exchanges or to replay a recording.
    ///
    /// A streamed request body is first read into memory, up to 64 MiB. Outer wrappers get recorded answers like any
    /// other answers. Inner wrappers, such as retries, run while recording, but not in a replay.
    ///
    /// - Parameter recorder: The recorder that holds the recording.
    public func recording(by recorder: Recorder) -> some DataRequestType {
        Recorded(self, by: recorder)
    }
}
