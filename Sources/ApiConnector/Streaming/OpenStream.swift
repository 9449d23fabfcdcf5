// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// An open stream: a response whose body is read as elements.
struct OpenStream<Element: Sendable>: Sendable {
    var chunks: ResponseBody.AsyncIterator
    var parser: any ElementParser<Element>

    /// Completes errors of the body with request, head and time.
    var completing: @Sendable (ApiConnectorError) -> ApiConnectorError = { $0 }

    /// Runs after the last byte has arrived, before the parser ends; nil for nothing.
    var beforeEnd: (@Sendable () async throws(ApiConnectorError) -> Void)?

    /// Releases resources after a failure, before the error is thrown; nil for nothing.
    var onFailure: (@Sendable () -> Void)?

    /// Releases resources after a break, before the stream waits to be resumed; nil for nothing.
    var onBreak: (@Sendable () -> Void)?

    /// The attempt that opened this connection; nil for the first connection, whose attempt the resumption has.
    var attempt: StreamAttempt?

    /// Resumes the stream after a break; nil if it cannot be resumed.
    var resumption: StreamResumption<Element>?

    /// Whether the stream may have more elements when it is resumed.
    var canBeResumed = true

    /// The error to throw after the elements that were already returned.
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
    /// Whether nothing is left to read, so that the body can be released.
    var isOver: Bool { failure == nil && parser.isOver }

    /// The next batch; resumes the stream if necessary.
    mutating func nextBatch(upTo count: Int) async throws(ApiConnectorError) -> [Element] {
        while true {
            var reason: ApiConnectorError?
            do throws(ApiConnectorError) {
                let batch = try await nextBatchOfConnection(upTo: count)
                if !batch.isEmpty, parser.isAdvancing { resumption?.reset() }
                if !batch.isEmpty || parser.isOver { return batch }
            } catch {
                reason = error
            }
            guard var resumption, let point = parser.resumePoint else {
                if let reason { throw parser.resumePoint == nil ? reason : reason.mentioningResuming }
                return []
            }
            onBreak?()
            self = try await resumption.resume(from: point, after: reason, completing)
        }
    }

    private mutating func nextBatchOfConnection(upTo count: Int) async throws(ApiConnectorError) -> [Element] {
        if let failure { throw failure }
        var batch: [Element] = []
        do throws(ApiConnectorError) {
            if Task.isCancelled { throw .cancelledReading }
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
    /// The error; if the connection was lost, with advice on resuming the stream.
    fileprivate var mentioningResuming: ApiConnectorError {
        // Resuming would not help other requests.
        guard kind == .connectionLost, request?.method == .get else { return self }
        var error = self
        error.detail += "; add .resuming() to the format to request the rest"
        return error
    }
}

/// The source of a stream's elements for one loop.
///
/// It sends nothing before the first batch is requested, and cancels a running call when it is released.
@usableFromInline
protocol BatchSource<Element>: AnyObject, Sendable {
    associatedtype Element: Sendable

    /// The next elements; empty at the end, and after an error.
    @concurrent
    func nextBatch() async throws(ApiConnectorError) -> [Element]
}

/// The items of each element of another stream.
final class FlattenedSource<Element: Sendable, Items: Sequence & SendableMetatype>: BatchSource
where Items.Element: Sendable {
    private let base: any BatchSource<Element>
    private let items: @Sendable (Element) -> Items

    init(_ base: any BatchSource<Element>, _ items: @escaping @Sendable (Element) -> Items) {
        self.base = base
        self.items = items
    }

    @concurrent
    func nextBatch() async throws(ApiConnectorError) -> [Items.Element] {
        while true {
            let batch = try await base.nextBatch()
            let found = batch.flatMap(items)
            if batch.isEmpty || !found.isEmpty { return found }
        }
    }
}

/// The values that a function returns one by one.
final class UnfoldedSource<Element: Sendable>: BatchSource {
    private let next: @Sendable () async throws(ApiConnectorError) -> Element?
    private let isOver = Locked(false)

    init(_ next: @escaping @Sendable () async throws(ApiConnectorError) -> Element?) {
        self.next = next
    }

    @concurrent
    func nextBatch() async throws(ApiConnectorError) -> [Element] {
        guard !isOver.withLock({ $0 }) else { return [] }
        do throws(ApiConnectorError) {
            if let element = try await next() { return [element] }
        } catch {
            isOver.withLock { $0 = true }
            throw error
        }
        isOver.withLock { $0 = true }
        return []
    }
}

/// Reads a response's body for one loop: sends the request with the first batch, and releases the body with the last.
final class ElementSource<Element: Sendable>: BatchSource {
    typealias Open = @Sendable () async throws(ApiConnectorError) -> OpenStream<Element>

    private enum State: Sendable {
        case unopened(Open)
        case open(OpenStream<Element>)
        case busy
        case over
    }

    /// The maximum number of elements that are decoded before the first one is returned.
    private static var batchCount: Int { 512 }

    private let state: Locked<State>

    init(_ open: @escaping Open) {
        state = Locked(.unopened(open))
    }

    /// Parses and decodes the next batch of elements outside the caller's actor.
    ///
    /// The caller's loop then takes the elements from the batch one by one, without leaving its actor.
    @concurrent
    func nextBatch() async throws(ApiConnectorError) -> [Element] {
        let before = state.withLock { state in
            defer { state = .busy }
            return state
        }
        if case .busy = before {
            throw ApiConnectorError(.other, at: .response, "two tasks read one stream at the same time")
        }
        // An error ends the stream.
        var after = State.over
        defer { state.withLock { $0 = after } }
        var stream: OpenStream<Element>
        switch before {
        case .unopened(let open):
            if Task.isCancelled { throw .cancelledReading }
            stream = try await open()
        case .open(let openStream): stream = openStream
        case .busy, .over: return []
        }
        let batch: [Element]
        do throws(ApiConnectorError) {
            batch = try await stream.nextBatch(upTo: Self.batchCount)
        } catch {
            stream.onFailure?()
            throw error
        }
        if !batch.isEmpty, !stream.isOver { after = .open(stream) }
        return batch
    }
}
