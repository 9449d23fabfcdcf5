// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The values of a call, as they come.
///
/// Cold: making it sends nothing, iterating it sends the request, iterating it again sends it again. It is pulled, so
/// nothing is read ahead of the loop but the chunk that it is in. Leaving the loop, or canceling its task, ends the
/// call.
public struct ResponseStream<Element: Sendable>: AsyncSequence, Sendable {
    fileprivate let makeSource: @Sendable () -> any BatchSource<Element>

    /// Makes a stream of values of your own, such as the values of several calls.
    ///
    /// ```swift
    /// let ticks = ResponseStream<Status>(unfolding: {
    ///     { () throws(ApiConnectorError) in try await api.value(at: .status) }
    /// })
    /// ```
    ///
    /// - Parameter start: Called for each loop with its first `next()`. The function that it returns is called for each
    ///   value, one call at a time. `nil` or an error ends the loop.
    public init(
        unfolding start: @escaping @Sendable () -> @Sendable () async throws(ApiConnectorError) -> Element?
    ) {
        self.init(source: { UnfoldedSource(start()) })
    }

    /// - Parameter open: Sends the call, for each loop again.
    init(_ open: @escaping ElementSource<Element>.Open) {
        self.init(source: { ElementSource(open) })
    }

    /// - Parameter makeSource: Makes what one loop reads.
    init(source makeSource: @escaping @Sendable () -> any BatchSource<Element>) {
        self.makeSource = makeSource
    }

    /// Returns the values.
    public struct AsyncIterator: AsyncIteratorProtocol {
        @usableFromInline
        let source: any BatchSource<Element>

        /// What was parsed already, the next one last.
        @usableFromInline
        var ready: [Element] = []

        fileprivate init(_ source: any BatchSource<Element>) {
            self.source = source
        }

        // Both inlinable, so that their caller takes elements of a type that it knows: 60 ns each and not 250.

        /// The next value; nil at the end.
        ///
        /// - Throws: ``ApiConnectorError``; after an error the stream has ended.
        @inlinable
        public mutating func next() async throws(ApiConnectorError) -> Element? {
            try await next(isolation: #isolation)
        }

        /// The next value; nil at the end.
        ///
        /// A loop calls it: what is ready is returned without a change of actor.
        ///
        /// - Throws: ``ApiConnectorError``; after an error the stream has ended.
        @inlinable
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ApiConnectorError) -> Element? {
            if let element = ready.popLast() { return element }
            ready = try await source.nextBatch()
            ready.reverse()
            return ready.popLast()
        }
    }

    /// Starts the call with its first `next()`.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(makeSource())
    }
}

extension ResponseStream where Element: Sequence, Element.Element: Sendable {
    /// The elements of each value one by one, such as those of each page.
    public var elements: ResponseStream<Element.Element> { elements { $0 } }
}

extension ResponseStream {
    /// What each value holds, one by one, such as the items of each page.
    ///
    /// ```swift
    /// for try await post in api.pages(of: Listing.self, from: .posts, next: next).elements(\.posts) { … }
    /// ```
    public func elements<Items: Sequence & SendableMetatype>(
        _ items: @escaping @Sendable (Element) -> Items
    ) -> ResponseStream<Items.Element> where Items.Element: Sendable {
        ResponseStream<Items.Element>(source: { FlattenedSource(makeSource(), items) })
    }
}

extension ResponseBody {
    /// The body as a stream of elements, for a body that comes otherwise than by a connection's `stream(of:at:as:)`.
    ///
    /// Like the body itself it can be iterated once.
    ///
    /// - Parameters:
    ///   - type: What the elements are; left out where the context names it.
    ///   - format: How bytes become elements. ``StreamFormat/automatic`` goes by no media type here: it is one value.
    ///   - decoder: What decodes JSON; Foundation's defaults by default.
    ///   - maximumRecordByteCount: The longest record, in bytes; 16 MiB by default.
    public func stream<Element: Sendable>(
        of type: Element.Type = Element.self,
        as format: StreamFormat<Element>,
        decoder: JSONDecoder = JSONDecoder(),
        maximumRecordByteCount: Int = 16 * 1024 * 1024
    ) -> ResponseStream<Element> {
        ResponseStream { () throws(ApiConnectorError) in
            let context = StreamContext(
                decoder: decoder,
                maximumRecordByteCount: maximumRecordByteCount,
                maximumBodyByteCount: ResponseDelivery.standard.maximumByteCount,
                wholeReader: decoder
            )
            return OpenStream(chunks: makeAsyncIterator(), parser: format.recipe.parser(context))
        }
    }
}

extension JSONDecoder: WholeBodyReader {
    func read<Value: Decodable>(_ type: Value.Type, from body: Data) throws(ApiConnectorError) -> Value {
        try decode(type, from: JSONText(data: body, number: 1, offset: 0, isDocument: true))
    }
}
