// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Whether the request belongs to the refresh of a credential; false by default.
    ///
    /// Calls wait for the refresh. A provider that has requests wait for each other, or that shares or repeats them, hands
    /// such a request on at once. ``RefreshableCredentials`` marks each request that is made or sent in its refresh, until the
    /// refresh ends. A credential wrapper of your own sets it, or ``CallOptions/isCredentialRefresh``.
    public var isCredentialRefresh: Bool {
        // A request may be made before the refresh that sends it.
        get { values.credentialRefreshes.isUnderWay || CredentialRefreshes.current.isUnderWay }
        set { values.credentialRefreshes.isSetByHand = newValue }
    }
}

/// The refreshes that a request is a part of.
struct CredentialRefreshes: Sendable {
    /// Those of ``RefreshableCredentials``, one for each level of nesting; some may be over.
    fileprivate var marks: [CredentialRefresh] = []

    /// What a wrapper or the call has set.
    var isSetByHand = false

    /// Those that the current task is a part of.
    @TaskLocal static var current = CredentialRefreshes()

    /// Whether one of them goes on.
    var isUnderWay: Bool { isSetByHand || marks.contains { !$0.isOver.withLock { $0 } } }

    /// Whether one of a source goes on.
    func contain(_ source: AnyObject) -> Bool {
        !marks.isEmpty && marks.contains { $0.source == ObjectIdentifier(source) && !$0.isOver.withLock { $0 } }
    }
}

private enum CredentialRefreshesValue: RequestValueKey {
    static let defaultValue = CredentialRefreshes()
}

extension RequestValues {
    var credentialRefreshes: CredentialRefreshes {
        get { self[CredentialRefreshesValue.self] }
        set {
            if newValue.marks.isEmpty, !newValue.isSetByHand {
                remove(CredentialRefreshesValue.self)
            } else {
                self[CredentialRefreshesValue.self] = newValue
            }
        }
    }

    /// Marks a request that is made in a refresh.
    mutating func joinCurrentRefresh() {
        let marks = CredentialRefreshes.current.marks
        if !marks.isEmpty { credentialRefreshes.marks = marks }
    }

    /// Takes the marks of a draft, which has no other values.
    mutating func joinRefreshes(of draft: RequestValues) {
        if !draft.isEmpty { credentialRefreshes.marks = draft.credentialRefreshes.marks }
    }
}

/// One refresh of ``RefreshableCredentials``.
///
/// Its task and the children of that task know it, so that each request that they make is marked. A task that outlives the
/// refresh is no part of it any more.
final class CredentialRefresh: Sendable {
    fileprivate let source: ObjectIdentifier
    fileprivate let isOver = Locked(false)

    init(of source: AnyObject) {
        self.source = ObjectIdentifier(source)
    }

    /// Runs the refresh itself.
    func during<Value>(_ refresh: () async throws -> Value) async rethrows -> Value {
        defer { isOver.withLock { $0 = true } }
        var refreshes = CredentialRefreshes.current
        refreshes.marks.append(self)
        return try await CredentialRefreshes.$current.withValue(refreshes) { try await refresh() }
    }
}
