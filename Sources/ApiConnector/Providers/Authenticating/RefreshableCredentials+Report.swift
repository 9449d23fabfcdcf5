// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
