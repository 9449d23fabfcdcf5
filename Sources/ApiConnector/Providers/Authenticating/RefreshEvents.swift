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

extension RefreshableCredentials {
    /// Reports an event of a refresh to the observers of all calls that wait for it.
    ///
    /// A call reports the event when its wait ends. Call this method in the task of a refresh, or in a task that the
    /// refresh starts. In other tasks it does nothing. One refresh reports at most 16 events.
    ///
    /// ```swift
    /// let session = RefreshableCredentials { _ in
    ///     RefreshableCredentials.report(.custom("tokenServer", details: ["name": "backup"]))
    ///     return try await backup.token()
    /// }
    /// ```
    ///
    /// - Parameter event: The event, such as ``CallEvent/Kind/custom(_:details:)``.
    public static func report(_ event: CallEvent.Kind) {
        RefreshEvents.current?.append(event)
    }
}
