// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The pages that an iteration has requested, for detecting a cycle of pages.
///
/// Two requests are equal if their method, URL, header fields and body are equal. A request with a streamed body is not
/// equal to any other.
struct PageHistory: Sendable {
    /// The maximum number of requests to remember.
    ///
    /// A cycle of fewer pages is detected, though not always in its first round.
    static let capacity = 10_000

    private struct Key: Hashable {
        let target: RequestTarget
        let headers: HTTPHeaders
        let body: Data

        init?(_ request: ApiRequest) {
            guard let body = try? request.body.data() else { return nil }
            self.body = body
            target = RequestTarget(request)
            headers = request.headers
        }
    }

    private var seen: Set<Key> = []

    /// Records a request; returns false if it was recorded before.
    mutating func insert(_ request: ApiRequest) -> Bool {
        guard let key = Key(request) else { return true }
        if seen.count == Self.capacity { seen = [] }
        return seen.insert(key).inserted
    }
}
