// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Where a stream's elements come from, for one loop over it.
///
/// Sends nothing before the first batch is asked for, and ends what it has under way when it is dropped.
@usableFromInline
protocol BatchSource<Element>: AnyObject, Sendable {
    associatedtype Element: Sendable

    /// The next elements; none at the end, and behind an error.
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
