// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// One canned answer: a response, a failure, or silence.
///
/// Methods add timing and faults: ``after(_:on:)``, ``chunked(byteCount:)``, ``failing(_:with:)``.
public struct TestConnectorResponse: Sendable {
    package enum Answer: Sendable {
        case response(HTTPStatus, HTTPHeaders, Content)
        case failure(any Error)
        case never
        /// A response that cannot be made because of a mistake in the test.
        indirect case broken(ApiConnectorError)
    }

    package enum Content: Sendable {
        case data(Data)
        case steps([BodyStep])
    }

    private enum Source: Sendable {
        case answer(Answer)
        case value(CannedValue)
    }

    private var source: Source
    /// The delay before the head.
    package var pause: Pause?

    package init(_ answer: Answer) {
        source = .answer(answer)
    }

    /// A response with a value, which is encoded when the response is delivered.
    package init(_ value: CannedValue) {
        source = .value(value)
    }

    /// A response with a value as JSON; status 200 and `Content-Type: application/json` by default.
    ///
    /// By default the encoder of the calling connection writes the value, so that the connection's decoder can read it.
    /// If the value does not encode, the call fails with kind `.encodingFailed`, and the script has an issue.
    public static func json(
        _ value: some Encodable & Sendable,
        status: HTTPStatus = 200,
        headers: HTTPHeaders = HTTPHeaders(),
        encoder: JSONEncoder? = nil
    ) -> TestConnectorResponse {
        if let encoder { return TestConnectorResponse(answer(value, status, headers, encoder)) }
        return TestConnectorResponse(CannedValue { encoder, _ in answer(value, status, headers, encoder) })
    }

    private static func answer(
        _ value: some Encodable,
        _ status: HTTPStatus,
        _ headers: HTTPHeaders,
        _ encoder: JSONEncoder
    ) -> Answer {
        do {
            return .json(try encoder.encode(value), status, headers)
        } catch {
            let detail = "the canned value of type \(type(of: value)) does not encode as JSON: \(error)"
            return .broken(ApiConnectorError(.encodingFailed, detail, underlying: error))
        }
    }

    /// A response with JSON that has no model, such as a literal whose values have different types.
    ///
    /// It is otherwise like ``json(_:status:headers:encoder:)``.
    public static func json(
        _ value: JSONValue,
        status: HTTPStatus = 200,
        headers: HTTPHeaders = HTTPHeaders()
    ) -> TestConnectorResponse {
        json(Data(value.description.utf8), status, headers)
    }

    package static func json(_ body: Data, _ status: HTTPStatus, _ headers: HTTPHeaders) -> TestConnectorResponse {
        TestConnectorResponse(.json(body, status, headers))
    }

    /// A response with bytes; status 200 and no header fields by default.
    public static func data(
        _ data: Data,
        status: HTTPStatus = 200,
        headers: HTTPHeaders = HTTPHeaders()
    ) -> TestConnectorResponse {
        TestConnectorResponse(.response(status, headers, .data(data)))
    }

    /// A response with text in UTF-8; status 200 and `Content-Type: text/plain; charset=utf-8` by default.
    public static func text(
        _ text: String,
        status: HTTPStatus = 200,
        mediaType: MediaType = MediaType("text", "plain", parameters: [.init(name: "charset", value: "utf-8")])
    ) -> TestConnectorResponse {
        .data(Data(text.utf8), status: status, headers: [.contentType: mediaType.description])
    }

    /// A response with a file's bytes, which are read now; status 200 and `Content-Type: application/json` by default.
    ///
    /// If the file cannot be read, the call fails with an error that names the file, and the script has an issue.
    public static func file(
        _ file: URL,
        mediaType: MediaType = .json,
        status: HTTPStatus = 200,
        headers: HTTPHeaders = HTTPHeaders()
    ) -> TestConnectorResponse {
        do {
            let typed: HTTPHeaders = [.contentType: mediaType.description]
            return .data(try Data(contentsOf: file), status: status, headers: typed.merging(headers))
        } catch {
            let detail = "the file \(file.lastPathComponent) of a canned answer cannot be read"
            return TestConnectorResponse(.broken(ApiConnectorError(.other, detail, underlying: error)))
        }
    }

    /// A response with a status and header fields, without a body.
    public static func status(_ status: HTTPStatus, headers: HTTPHeaders = HTTPHeaders()) -> TestConnectorResponse {
        .data(Data(), status: status, headers: headers)
    }

    /// A failure.
    ///
    /// An `ApiConnectorError` is thrown unchanged. A `URLError` is mapped as a transport maps it. Any other error
    /// becomes kind `.other`.
    public static func failure(_ error: any Error) -> TestConnectorResponse {
        TestConnectorResponse(.failure(error))
    }

    /// A server that never answers: the call waits until it is canceled or times out, or its script ends.
    public static let never = TestConnectorResponse(.never)
}

extension TestConnectorResponse {
    /// The point where an answer breaks off.
    public enum BreakingPoint: Sendable, Hashable {
        /// Before the first byte.
        case beforeHead
        /// After the status line, in the header fields.
        case inHead
        /// After this number of body bytes. A shorter body breaks off at its end.
        ///
        /// If the test feeds the body, sending bytes after this point fails.
        case afterByteCount(Int)
    }

    /// A body in chunks, each delivered separately; status 200 and no header fields by default.
    public static func chunks(
        _ chunks: [Data],
        status: HTTPStatus = 200,
        headers: HTTPHeaders = HTTPHeaders()
    ) -> TestConnectorResponse {
        TestConnectorResponse(.response(status, headers, .steps(chunks.map(BodyStep.bytes))))
    }

    /// A body that the test sends in pieces; status 200 and no header fields by default.
    ///
    /// A feed is for one body, so give each answer its own feed.
    public static func feed(
        _ feed: BodyFeed,
        status: HTTPStatus = 200,
        headers: HTTPHeaders = HTTPHeaders()
    ) -> TestConnectorResponse {
        TestConnectorResponse(.response(status, headers, .steps([.feed(feed)])))
    }

    /// Server-sent events that the test sends: status 200 and `Content-Type: text/event-stream`.
    public static func events(_ feed: BodyFeed) -> TestConnectorResponse {
        .feed(feed, headers: ["Content-Type": "text/event-stream"])
    }

    /// Returns the same answer with a delay before its head.
    public func after(_ length: Duration, on timeSource: any TimeSource) -> TestConnectorResponse {
        var response = self
        response.pause = Pause(length: length, timeSource: timeSource)
        return response
    }

    /// Returns the same answer with its body cut into chunks.
    ///
    /// - Parameter byteCount: The size of a chunk in bytes; the last chunk may be shorter.
    public func chunked(byteCount: Int) -> TestConnectorResponse {
        mapSteps { steps in
            steps.flatMap { step in
                guard case .bytes(let data) = step else { return [step] }
                return data.cut(every: byteCount).map(BodyStep.bytes)
            }
        }
    }

    /// Returns the same answer with a pause between its chunks.
    ///
    /// Together with ``chunked(byteCount:)``, this simulates a slow connection.
    public func pausing(_ length: Duration, on timeSource: any TimeSource) -> TestConnectorResponse {
        mapSteps { steps in
            let pause = BodyStep.pause(Pause(length: length, timeSource: timeSource))
            return Array(steps.map { [$0] }.joined(separator: [pause]))
        }
    }

    /// Returns the same answer, but broken off.
    ///
    /// The error is a lost connection by default.
    ///
    /// - Parameters:
    ///   - point: The point where the answer breaks off.
    ///   - error: The error of the call; nil by default, which means kind `.connectionLost`.
    public func failing(_ point: BreakingPoint, with error: ApiConnectorError? = nil) -> TestConnectorResponse {
        switch point {
        case .beforeHead:
            return breaking(error ?? ApiConnectorError(.connectionLost, "the connection was lost before the head"))
        case .inHead:
            return breaking(error ?? ApiConnectorError(.connectionLost, "the connection was lost in the head"))
        case .afterByteCount(let count):
            let lost = "the connection was lost after \(count) bytes of the body"
            let error = error ?? ApiConnectorError(.connectionLost, at: .response, lost)
            return mapSteps { $0.prefix(byteCount: count) + [.failure(error)] }
        }
    }
}

// MARK: - For delivery

extension TestConnectorResponse {
    /// The answer; a value is encoded with Foundation's default encoder.
    package var answer: Answer {
        switch source {
        case .answer(let answer): answer
        case .value(let value): value.early
        }
    }

    /// Whether the answer has a value that the calling connection's encoder writes.
    package var isUncoded: Bool { if case .value = source { true } else { false } }

    /// The answer to a request, with its value encoded by the connection's encoder.
    func answer(to request: ApiRequest) -> Answer {
        switch source {
        case .answer(let answer): answer
        case .value(let value): value.answer(request.encoder, request.decoder)
        }
    }

    /// The same response with its value encoded.
    func coded(_ encoder: JSONEncoder?, _ decoder: JSONDecoder?) -> TestConnectorResponse {
        guard case .value(let value) = source else { return self }
        var response = self
        response.source = .answer(value.answer(encoder, decoder))
        return response
    }

    /// Status and bytes of a body that is known in advance, in one piece or several.
    package var canned: (HTTPStatus, Data)? { answer.canned }

    /// A short description for a list of answers.
    var summary: String {
        switch answer {
        case .response(let status, _, _): status.description
        case .failure: "a failure"
        case .never: "silence"
        case .broken: "an invalid answer"
        }
    }

    private func breaking(_ error: ApiConnectorError) -> TestConnectorResponse {
        if case .broken = answer { return self }
        var response = self
        response.source = .answer(.failure(error))
        return response
    }

    private func mapSteps(_ change: @escaping @Sendable ([BodyStep]) -> [BodyStep]) -> TestConnectorResponse {
        var response = self
        switch source {
        case .answer(let answer): response.source = .answer(answer.mapSteps(change))
        case .value(let value):
            response.source = .value(CannedValue { value.answer($0, $1).mapSteps(change) })
        }
        return response
    }
}

extension TestConnectorResponse.Answer {
    /// A response with JSON.
    static func json(_ body: Data, _ status: HTTPStatus, _ headers: HTTPHeaders) -> Self {
        let typed: HTTPHeaders = ["Content-Type": "application/json"]
        return .response(status, typed.merging(headers), .data(body))
    }

    /// Status and bytes of a body that is known in advance, in one piece or several.
    var canned: (HTTPStatus, Data)? {
        guard case .response(let status, _, let content) = self else { return nil }
        switch content {
        case .data(let data): return (status, data)
        case .steps(let steps):
            var body = Data()
            for step in steps {
                switch step {
                case .bytes(let data): body += data
                case .pause: break
                case .failure, .feed: return nil
                }
            }
            return (status, body)
        }
    }

    fileprivate func mapSteps(_ change: ([BodyStep]) -> [BodyStep]) -> Self {
        switch self {
        case .response(let status, let headers, .data(let data)):
            .response(status, headers, .steps(change([.bytes(data)])))
        case .response(let status, let headers, .steps(let steps)): .response(status, headers, .steps(change(steps)))
        case .failure, .never, .broken: self
        }
    }
}

extension [BodyStep] {
    /// The steps with the first `byteCount` bytes.
    fileprivate func prefix(byteCount: Int) -> [BodyStep] {
        var left = Swift.max(byteCount, 0)
        var steps: [BodyStep] = []
        for step in self {
            switch step {
            case .bytes(let data) where data.count > left:
                return left > 0 ? steps + [.bytes(data.prefix(left))] : steps
            case .bytes(let data):
                left -= data.count
            case .feed(let feed, let limit) where left < limit ?? .max:
                return steps + [.feed(feed, upTo: left)]
            case .feed, .pause, .failure:
                break
            }
            steps.append(step)
        }
        return steps
    }
}

extension Data {
    fileprivate func cut(every byteCount: Int) -> [Data] {
        let step = Swift.max(byteCount, 1)
        return stride(from: startIndex, to: endIndex, by: step).map { self[$0..<Swift.min($0 + step, endIndex)] }
    }
}

/// A test's value that becomes a response's body, with the coders of the connection that gets the response.
package final class CannedValue: Sendable {
    private let make: @Sendable (JSONEncoder, JSONDecoder) -> TestConnectorResponse.Answer
    /// The answer that was made before the delivery, and whether Foundation's default coders made it.
    private let made: Locked<(answer: TestConnectorResponse.Answer, isStandard: Bool)?>

    /// - Parameters:
    ///   - answer: The answer that was made to check the value; nil by default.
    ///   - coders: The coders that made this answer.
    ///   - make: Makes the answer with a connection's coders.
    package init(
        checked answer: TestConnectorResponse.Answer? = nil,
        with coders: (JSONEncoder, JSONDecoder)? = nil,
        _ make: @escaping @Sendable (JSONEncoder, JSONDecoder) -> TestConnectorResponse.Answer
    ) {
        self.make = make
        made = Locked(answer.map { ($0, coders.map { $0.isStandard && $1.isStandard } ?? true) })
    }

    /// The answer for code that has no connection.
    fileprivate var early: TestConnectorResponse.Answer {
        if let made = made.withLock({ $0 }) { return made.answer }
        let answer = make(JSONEncoder(), JSONDecoder())
        made.withLock { $0 = $0 ?? (answer, true) }
        return answer
    }

    /// The answer for a connection's coders.
    ///
    /// If the value was already encoded, and the connection has Foundation's default coders, it is not encoded again.
    fileprivate func answer(_ encoder: JSONEncoder?, _ decoder: JSONDecoder?) -> TestConnectorResponse.Answer {
        guard let encoder, let decoder else { return early }
        let made = made.withLock { $0 }
        if let made, made.isStandard, encoder.isStandard, decoder.isStandard { return made.answer }
        return make(encoder, decoder)
    }
}

extension JSONEncoder {
    /// Whether the encoder writes the same bytes as a new one.
    fileprivate var isStandard: Bool {
        guard type(of: self) == JSONEncoder.self, outputFormatting.isEmpty, userInfo.isEmpty,
            case .deferredToDate = dateEncodingStrategy, case .base64 = dataEncodingStrategy,
            case .useDefaultKeys = keyEncodingStrategy, case .throw = nonConformingFloatEncodingStrategy
        else { return false }
        return true
    }
}

extension JSONDecoder {
    /// Whether the decoder gives the same values as a new one.
    fileprivate var isStandard: Bool {
        guard type(of: self) == JSONDecoder.self, userInfo.isEmpty, !allowsJSON5, !assumesTopLevelDictionary,
            case .deferredToDate = dateDecodingStrategy, case .base64 = dataDecodingStrategy,
            case .useDefaultKeys = keyDecodingStrategy, case .throw = nonConformingFloatDecodingStrategy
        else { return false }
        return true
    }
}
