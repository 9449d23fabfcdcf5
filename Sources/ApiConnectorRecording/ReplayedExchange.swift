// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// A request in comparable form.
///
/// Placeholders replace the given secrets, and a common text replaces all other secrets.
struct ComparableRequest {
    let request: ApiRequest
    /// The method and the path, which must be equal before other parts are compared.
    let key: String
    /// The original values of the secrets.
    let secrets: [String]
    /// Whether the recording contains the body.
    let isBodyKnown: Bool

    init(request: ApiRequest, key: String, secrets: [String], isBodyKnown: Bool) {
        self.request = request
        self.key = key
        self.secrets = secrets
        self.isBodyKnown = isBodyKnown
    }

    /// Fails with nil if the exchange's URL cannot be requested.
    init?(_ exchange: RecordedExchange, _ redaction: RecordingRedaction) {
        var (comparable, secrets) = redaction.comparable(exchange)
        if let body = comparable.body { comparable.body = Self.withPlainBoundary(body, comparable.mediaType) }
        guard let request = comparable.request else { return nil }
        self.init(
            request: request,
            key: "\(request.method) \(request.url.path(percentEncoded: false))",
            secrets: secrets,
            isBodyKnown: exchange.body != nil
        )
    }

    /// Replaces the boundary of a multipart body, which is random for each request.
    private static func withPlainBoundary(_ body: Data, _ mediaType: MediaType?) -> Data {
        guard let mediaType, mediaType.type == "multipart", let boundary = mediaType[parameter: "boundary"],
            !boundary.isEmpty
        else { return body }
        let bytes = Array(body)
        let edits = SecretSearch([Array(boundary.utf8)]).findings(in: bytes).map {
            FieldEdit(range: $0.range, replacement: Array("boundary".utf8))
        }
        return Data(FieldEdit.apply(edits, to: bytes))
    }

    /// The differences from a sent request.
    ///
    /// The same code decides whether the request matches.
    func differences(_ sent: ComparableRequest) -> [Difference] {
        let bodyBytes = (try? sent.request.body.data()) ?? Data()
        let request = RecordedRequest(number: 1, request: sent.request, body: bodyBytes)
        return RequestMatcher.request(self.request, comparingBody: isBodyKnown).differences(request)
    }

    /// Whether this recorded request matches a sent request.
    ///
    /// - Parameter placeholders: The recording's placeholders. A placeholder other than the one in this request stands
    ///   for another secret.
    func isAnswered(_ sent: ComparableRequest, _ placeholders: Set<String>) -> Bool {
        guard key == sent.key, differences(sent).isEmpty else { return false }
        if isBodyKnown, secrets.count == sent.secrets.count {
            for (recorded, sent) in zip(secrets, sent.secrets) where recorded != sent {
                if placeholders.contains(sent) { return false }
            }
        }
        return request.headers.allSatisfy { field in
            let values = sent.request.headers.values(field.name)
            return values.allSatisfy { $0 == field.value || Placeholder.all(in: $0).isDisjoint(with: placeholders) }
                || values.contains(field.value)
        }
    }
}

/// A recorded exchange that can be replayed.
struct ReplayedExchange {
    let request: ComparableRequest
    private let exchange: RecordedExchange

    /// Fails with nil if the exchange's URL cannot be requested.
    init?(_ exchange: RecordedExchange, _ redaction: RecordingRedaction) {
        guard let request = ComparableRequest(exchange, redaction) else { return nil }
        self.request = request
        self.exchange = redaction.restored(exchange)
    }

    /// The answer, in one piece or in the recorded parts.
    ///
    /// - Parameter advice: How to record an answer again that was not read to its end.
    func response(to request: ApiRequest, _ pace: Replay.Pace, advice: String) -> TestConnectorResponse {
        let answer = answer(to: request, pace, advice)
        var time = exchange.headTime
        if case .failure = answer.answer { time = exchange.endTime }
        guard pace == .recorded, time > .zero else { return answer }
        return answer.after(time, on: request.timeSource)
    }

    private func answer(to request: ApiRequest, _ pace: Replay.Pace, _ advice: String) -> TestConnectorResponse {
        let isCollected = request.delivery != .streamed
        switch exchange.end {
        case .failed(let failure) where exchange.status == nil || isCollected:
            return failure.kind == .cancelled ? .never : .failure(failure.error)
        case .unknown:
            return .failure(
                ApiConnectorError(
                    .unmatched,
                    "the recording has the answer's head but not its body; export it again with content"
                )
            )
        default: break
        }
        guard let status = exchange.status else { return .never }
        let isPlain = exchange.end == .finished && pace == .immediate && (isCollected || exchange.chunks.count < 2)
        guard !isPlain else { return .data(exchange.answer, status: status, headers: exchange.answerHeaders) }
        return TestConnectorResponse(.response(status, exchange.answerHeaders, .steps(steps(request, pace, advice))))
    }

    private func steps(_ request: ApiRequest, _ pace: Replay.Pace, _ advice: String) -> [BodyStep] {
        var steps: [BodyStep] = []
        var now = exchange.headTime
        func wait(until time: Duration) {
            guard pace == .recorded, time > now else { return }
            steps.append(.pause(Pause(length: time - now, timeSource: request.timeSource)))
            now = time
        }
        for part in exchange.parts {
            wait(until: part.time)
            steps.append(.bytes(part.bytes))
        }
        wait(until: exchange.endTime)
        switch exchange.end {
        case .failed(let failure):
            steps.append(.failure(failure.error))
        case .left:
            let text = "the recording ends here, because the reader stopped reading the body; \(advice)"
            steps.append(.failure(ApiConnectorError(.unmatched, at: .response, text)))
        case .finished, .unknown: break
        }
        return steps
    }
}
