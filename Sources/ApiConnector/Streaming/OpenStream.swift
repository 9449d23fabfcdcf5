// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// An answered call whose body is read as elements.
struct OpenStream<Element: Sendable>: Sendable {
    var chunks: ResponseBody.AsyncIterator
    var parser: any ElementParser<Element>

    /// What the errors of the body do not know: request, head, time.
    var completing: @Sendable (ApiConnectorError) -> ApiConnectorError = { $0 }

    /// What has to be done when the last byte has come, before the parser is told; nil for nothing.
    var beforeEnd: (@Sendable () async throws(ApiConnectorError) -> Void)?

    /// What has to be released when it fails, before anybody is told; nil for nothing.
    var onFailure: (@Sendable () -> Void)?

    /// The connection that it comes over; nil for a stream that is not resumed.
    var attempt: StreamAttempt?

    /// How it is opened again when it breaks off; nil for not at all.
    var resumption: StreamResumption<Element>?

    /// Whether opening it again may bring more.
    var canBeResumed = true

    /// What comes behind the elements that were returned.
    fileprivate var failure: ApiConnectorError?
    fileprivate var isAtEnd = false

    init(
        chunks: ResponseBody.AsyncIterator,
        parser: any ElementParser<Element>,
        completing: @escaping @Sendable (ApiConnectorError) -> ApiConnectorError = { $0 }
    ) {
        self.chunks = chunks
        self.parser = parser
        self.completing = completing
    }
}

extension OpenStream {
    /// Whether there is nothing left to read, so that the body can be dropped.
    var isOver: Bool { failure == nil && parser.isOver }

    /// The next batch, of the stream opened again if need be.
    mutating func nextResumedBatch(upTo count: Int) async throws(ApiConnectorError) -> [Element] {
        while true {
            var reason: ApiConnectorError?
            do throws(ApiConnectorError) {
                let batch = try await nextBatch(upTo: count)
                if !batch.isEmpty, parser.isAdvancing { resumption?.reset() }
                if !batch.isEmpty || parser.isOver { return batch }
            } catch {
                reason = error
            }
            guard var resumption, let point = parser.resumePoint else {
                if let reason { throw parser.resumePoint == nil ? reason : reason.mentioningResuming }
                return []
            }
            do throws(ApiConnectorError) {
                self = try await resumption.resume(from: point, after: reason)
            } catch {
                throw completing(error)
            }
        }
    }

    private mutating func nextBatch(upTo count: Int) async throws(ApiConnectorError) -> [Element] {
        if let failure { throw failure }
        var batch: [Element] = []
        do throws(ApiConnectorError) {
            while true {
                try parser.read(&batch, upTo: count)
                if !batch.isEmpty || isAtEnd || parser.isOver { break }
                if let chunk = try await chunks.next() {
                    parser.append(chunk)
                    if resumption != nil, parser.resumePoint?.isOfFeed == true { resumption?.reset() }
                } else {
                    try await beforeEnd?()
                    parser.end()
                    isAtEnd = true
                }
            }
        } catch {
            let error = completing(error)
            guard !batch.isEmpty else { throw error }
            failure = error
        }
        return batch
    }
}

extension ApiConnectorError {
    /// A lost connection with a hint at what asks for the rest of a stream.
    fileprivate var mentioningResuming: ApiConnectorError {
        // Another method could not be sent again.
        guard kind == .connectionLost, request?.method == .get else { return self }
        var error = self
        error.detail += "; add .resuming() to the format to request the rest"
        return error
    }
}
