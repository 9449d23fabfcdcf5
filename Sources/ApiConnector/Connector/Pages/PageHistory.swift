// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Which pages a loop has asked for, so that a circle is found.
///
/// Two requests are the same where method, URL, header fields and body are. One whose body is streamed is like no
/// other.
struct PageHistory: Sendable {
    /// The most requests that are remembered; a circle of up to that many pages is found, if not at its first round.
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

    /// Notes a request; false where it was noted before.
    mutating func insert(_ request: ApiRequest) -> Bool {
        guard let key = Key(request) else { return true }
        if seen.count == Self.capacity { seen = [] }
        return seen.insert(key).inserted
    }
}
