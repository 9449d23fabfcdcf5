// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The hosts of a failover, and which of them failed recently.
final class FailoverHosts: Sendable {
    private let origins: [HTTPOrigin]
    private let duration: Duration
    /// When a failed host returns to its normal position.
    private let failing = Protected<[HTTPOrigin: Duration]>([:])

    init(_ urls: [URL], _ duration: Duration) {
        var seen: Set<HTTPOrigin> = []
        origins = urls.compactMap { HTTPOrigin($0) }.filter { seen.insert($0).inserted }
        self.duration = duration.bounded
    }

    /// The order of hosts for a request; nil if the request's own host is not one of them.
    func order(from own: HTTPOrigin, now: Duration) -> [HTTPOrigin]? {
        guard origins.contains(own) else { return nil }
        let failing = failing.withLock { $0 }
        let order = [own] + origins.filter { $0 != own }
        guard !failing.isEmpty else { return order }
        let isFailing = { (origin: HTTPOrigin) in failing[origin].map { $0 > now } ?? false }
        return order.filter { !isFailing($0) } + order.filter(isFailing)
    }

    func note(_ origin: HTTPOrigin, isFailing: Bool, now: Duration) {
        failing.withLock { $0[origin] = isFailing ? now + duration : nil }
    }
}
