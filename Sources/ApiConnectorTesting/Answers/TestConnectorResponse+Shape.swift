// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

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

    private func breaking(_ error: ApiConnectorError) -> TestConnectorResponse {
        if case .broken = answer { return self }
        var response = self
        response.answer = .failure(error)
        response.recode = nil
        return response
    }

    private func mapSteps(_ change: @escaping @Sendable ([BodyStep]) -> [BodyStep]) -> TestConnectorResponse {
        guard case .response(let status, let headers, let content) = answer else { return self }
        var response = self
        if let recode {
            response.recode = { encoder, decoder in recode(encoder, decoder).mapSteps(change) }
        }
        switch content {
        case .data(let data): response.answer = .response(status, headers, .steps(change([.bytes(data)])))
        case .steps(let steps): response.answer = .response(status, headers, .steps(change(steps)))
        }
        return response
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
