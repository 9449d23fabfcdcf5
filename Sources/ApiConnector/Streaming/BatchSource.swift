// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
