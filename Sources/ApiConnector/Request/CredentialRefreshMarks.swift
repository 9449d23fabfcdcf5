// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Whether the request is part of a credential refresh; false by default.
    ///
    /// Other calls wait for the refresh, so the refresh must not wait for them. A provider that queues, shares or
    /// repeats requests has to pass such a request on immediately.
    ///
    /// ``RefreshableCredentials`` marks each request that is created or sent during its refresh. In your own credential
    /// wrapper, use ``markingCredentialRefresh(of:_:)``, or set ``CallOptions/isCredentialRefresh``. A value that you set
    /// here replaces the mark.
    public var isCredentialRefresh: Bool {
        // A refresh may send a request that was created earlier and therefore has no mark. Such a request must not wait
        // for other calls either, because they may wait for the refresh.
        get {
            let refreshes = values.credentialRefreshes
            return refreshes.isMarked || refreshes.manualValue == nil && CredentialRefreshes.current.isMarked
        }
        set { values.credentialRefreshes.manualValue = newValue }
    }

    /// Whether the request is part of a credential refresh of this source, or is sent by one.
    ///
    /// For such a request, a source of credentials has to return nil immediately, without waiting for the refresh. The
    /// result does not depend on a value that was set for ``isCredentialRefresh``.
    public func isCredentialRefresh(of source: AnyObject) -> Bool {
        // The refresh may send a request that was created before it.
        values.credentialRefreshes.contain(source) || CredentialRefreshes.current.contain(source)
    }

    /// Runs a credential refresh, and marks each request that it creates or sends; see ``isCredentialRefresh``.
    ///
    /// ```swift
    /// let token = try await ApiRequest.markingCredentialRefresh(of: self) { try await fetchToken() }
    /// ```
    ///
    /// Child tasks of the refresh belong to it, too. After the refresh, its marks have no effect.
    ///
    /// - Parameters:
    ///   - source: The source of the credentials, for ``isCredentialRefresh(of:)``.
    ///   - refresh: Gets the new credential.
    public static func markingCredentialRefresh<Value>(
        of source: AnyObject,
        _ refresh: () async throws -> Value
    ) async rethrows -> Value {
        let mark = CredentialRefresh(of: source)
        defer { mark.isOver.withLock { $0 = true } }
        var refreshes = CredentialRefreshes.current
        refreshes.marks.append(mark)
        return try await CredentialRefreshes.$current.withValue(refreshes) { try await refresh() }
    }
}

/// The refreshes that a request is part of.
struct CredentialRefreshes: Sendable {
    /// The marked refreshes, one per level of nesting; some may have ended.
    fileprivate var marks: [CredentialRefresh] = []

    /// The value that a wrapper or the call has set; nil if none was set.
    var manualValue: Bool?

    /// The refreshes that the current task is part of.
    @TaskLocal fileprivate static var current = CredentialRefreshes()

    /// Whether at least one refresh is running, unless another value was set.
    var isMarked: Bool { manualValue ?? marks.contains { !$0.isOver.withLock { $0 } } }

    /// Whether at least one refresh was running when the request was made, unless another value was set.
    var wasMarked: Bool { manualValue ?? !marks.isEmpty }

    /// Whether a refresh of a source is running.
    fileprivate func contain(_ source: AnyObject) -> Bool {
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
            if newValue.marks.isEmpty, newValue.manualValue == nil {
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

/// One refresh of a credential.
///
/// The task of the refresh and its child tasks have a reference to this object, so that each request that they create
/// is marked. The marks have no effect after the refresh, even if a child task continues.
private final class CredentialRefresh: Sendable {
    let source: ObjectIdentifier
    let isOver = Locked(false)

    init(of source: AnyObject) {
        self.source = ObjectIdentifier(source)
    }
}
