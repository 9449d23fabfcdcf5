// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A stream of a call's values.
///
/// - It is cold: each iteration sends the request.
/// - It has back-pressure: nothing is decoded ahead of the loop, except the current chunk. The transport reads ahead at
///   most its window.
/// - Leaving the loop ends the call. Canceling its task ends the call after the loop has taken the elements that are
///   already decoded, at most 512.
public struct ResponseStream<Element: Sendable>: AsyncSequence, Sendable {
    fileprivate let makeSource: @Sendable () -> any BatchSource<Element>

    /// Makes a stream from your own values, for example from the values of several calls.
    ///
    /// ```swift
    /// let ticks = ResponseStream<Status>(unfolding: {
    ///     { () throws(ApiConnectorError) in try await api.value(at: .status) }
    /// })
    /// ```
    ///
    /// - Parameter start: Called once per loop, when the loop makes its iterator. The function that it returns is
    ///   called for each value, one call at a time. `nil` or an error ends the loop.
    public init(
        unfolding start: @escaping @Sendable () -> @Sendable () async throws(ApiConnectorError) -> Element?
    ) {
        self.init(source: { UnfoldedSource(start()) })
    }

    /// - Parameter open: Sends the call; called for each loop.
    init(_ open: @escaping ElementSource<Element>.Open) {
        self.init(source: { ElementSource(open) })
    }

    /// - Parameter makeSource: Makes the source of one loop.
    init(source makeSource: @escaping @Sendable () -> any BatchSource<Element>) {
        self.makeSource = makeSource
    }

    /// Iterates over the values.
    public struct AsyncIterator: AsyncIteratorProtocol {
        @usableFromInline
        let source: any BatchSource<Element>

        /// The values that are already decoded, in reverse order.
        @usableFromInline
        var ready: [Element] = []

        fileprivate init(_ source: any BatchSource<Element>) {
            self.source = source
        }

        // Both functions are inlinable, because the caller then knows the type of the elements: 60 ns per element
        // instead of 250.

        /// The next value; nil at the end.
        ///
        /// - Throws: ``ApiConnectorError``; after an error the stream has ended.
        @inlinable
        public mutating func next() async throws(ApiConnectorError) -> Element? {
            try await next(isolation: #isolation)
        }

        /// The next value; nil at the end.
        ///
        /// A loop calls this function, which returns decoded values without changing the actor.
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

    /// Makes an iterator, whose first `next()` starts the call.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(makeSource())
    }
}

extension ResponseStream where Element: Sequence, Element.Element: Sendable {
    /// The elements of all values one by one, such as the elements of all pages.
    public var elements: ResponseStream<Element.Element> { elements { $0 } }
}

extension ResponseStream {
    /// The items within all values one by one, such as the items of all pages.
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
    /// Returns the body as a stream of elements, for a body that does not come from `stream(of:at:as:)`.
    ///
    /// Like the body itself, the stream can be iterated once.
    ///
    /// - Parameters:
    ///   - type: The type of the elements; can be omitted if the compiler can infer it.
    ///   - format: How bytes become elements. ``StreamFormat/automatic`` means one value here, because there is no
    ///     media type.
    ///   - decoder: The decoder for JSON; Foundation's defaults by default.
    ///   - maximumRecordByteCount: The maximum size of a record, in bytes; 16 MiB by default.
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
            return OpenStream(chunks: makeAsyncIterator(), parser: format.parser(context))
        }
    }
}
