// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
import Synchronization

/// A wrapper such as a user writes, in a module that knows only the library's public interface.
///
/// It counts under a lock and changes its copy of the request.
public struct Stamped<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let counter = Counter()

    /// Wraps a provider.
    public init(_ wrapped: Wrapped) {
        self.wrapped = wrapped
    }

    /// Stamps the request and passes it on.
    public func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        var request = request
        request.attempt = counter.next()
        return try await wrapped.response(for: request)
    }
}

private final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count &+= 1
            return count
        }
    }
}
