// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Whether the request is part of a credential refresh; false by default.
    ///
    /// Other calls wait for the refresh, so the refresh must not wait for them. A provider that queues, shares or
    /// repeats requests has to pass such a request on immediately. ``RefreshableCredentials`` marks each request that
    /// is made or sent during its refresh. If you write your own credential wrapper, set this property, or
    /// ``CallOptions/isCredentialRefresh``.
    public var isCredentialRefresh: Bool {
        // A request may be created before the refresh that sends it.
        get { values.credentialRefreshes.isUnderWay || CredentialRefreshes.current.isUnderWay }
        set { values.credentialRefreshes.isSetByHand = newValue }
    }
}

/// The refreshes that a request is part of.
struct CredentialRefreshes: Sendable {
    /// The refreshes of ``RefreshableCredentials``, one per level of nesting; some may have ended.
    fileprivate var marks: [CredentialRefresh] = []

    /// The value that a wrapper or the call has set.
    var isSetByHand = false

    /// The refreshes that the current task is part of.
    @TaskLocal static var current = CredentialRefreshes()

    /// Whether at least one refresh is running.
    var isUnderWay: Bool { isSetByHand || marks.contains { !$0.isOver.withLock { $0 } } }

    /// Whether a refresh of a source is running.
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

    /// Marks a request that is made during a refresh.
    mutating func joinCurrentRefresh() {
        let marks = CredentialRefreshes.current.marks
        if !marks.isEmpty { credentialRefreshes.marks = marks }
    }

    /// Copies the marks of a draft, which has no other values.
    mutating func joinRefreshes(of draft: RequestValues) {
        if !draft.isEmpty { credentialRefreshes.marks = draft.credentialRefreshes.marks }
    }
}

/// One refresh of ``RefreshableCredentials``.
///
/// The task of the refresh and its child tasks have a reference to this object, so that each request that they create
/// is marked. The marks have no effect after the refresh, even if a child task continues.
final class CredentialRefresh: Sendable {
    fileprivate let source: ObjectIdentifier
    fileprivate let isOver = Locked(false)

    init(of source: AnyObject) {
        self.source = ObjectIdentifier(source)
    }

    /// Runs the refresh.
    func during<Value>(_ refresh: () async throws -> Value) async rethrows -> Value {
        defer { isOver.withLock { $0 = true } }
        var refreshes = CredentialRefreshes.current
        refreshes.marks.append(self)
        return try await CredentialRefreshes.$current.withValue(refreshes) { try await refresh() }
    }
}
