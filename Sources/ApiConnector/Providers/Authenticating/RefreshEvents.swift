// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The events that one refresh of ``RefreshableCredentials`` reports to the calls that wait for it.
final class RefreshEvents: Sendable {
    /// The events of the refresh that this task belongs to.
    @TaskLocal static var current: RefreshEvents?

    /// Further events are dropped.
    static let maximumCount = 16

    private let kinds = Locked<[CallEvent.Kind]>([])

    /// The events so far, in the order in which they were reported.
    var all: [CallEvent.Kind] { kinds.withLock { $0 } }

    func append(_ kind: CallEvent.Kind) {
        kinds.withLock { kinds in
            if kinds.count < Self.maximumCount { kinds.append(kind) }
        }
    }
}
