// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension DataRequestType {
    /// Returns this provider, wrapped with retries.
    ///
    /// Most connections also need credentials and an observer. The other functions of this name add them in the
    /// recommended order. From the outside in:
    ///
    /// - The observer sees one call with its attempts and decisions.
    /// - The credential is added and refreshed outside the retries, so that a 401 does not count as a failed attempt.
    /// - The retries are next to this provider, which sends each attempt.
    ///
    /// The guide <doc:ComposingProviders> explains the order.
    ///
    /// ```swift
    /// let provider = SystemProvider().standard(authenticatedBy: credentials, observedBy: metrics)
    /// ```
    ///
    /// - Parameter policy: When and how often a request is sent again; ``RetryPolicy/standard`` by default.
    public func standard(_ policy: RetryPolicy = .standard) -> some DataRequestType {
        retrying(policy)
    }

    /// Like ``standard(_:)``, with credentials.
    ///
    /// - Parameters:
    ///   - policy: When and how often a request is sent again; ``RetryPolicy/standard`` by default.
    ///   - source: The source of the credentials.
    ///   - scope: The origins that get the credential; only the connection's own by default.
    public func standard<Source: CredentialSource>(
        _ policy: RetryPolicy = .standard,
        authenticatedBy source: Source,
        for scope: CredentialScope = .connection
    ) -> some DataRequestType {
        standard(policy).authenticating(by: source, for: scope)
    }

    /// Like ``standard(_:)``, with an observer.
    ///
    /// - Parameters:
    ///   - policy: When and how often a request is sent again; ``RetryPolicy/standard`` by default.
    ///   - observer: Receives the events of each call, including its attempts and decisions.
    public func standard<Observer: CallObserver>(
        _ policy: RetryPolicy = .standard,
        observedBy observer: Observer
    ) -> some DataRequestType {
        standard(policy).observing(by: observer)
    }

    /// Like ``standard(_:)``, with credentials and an observer.
    ///
    /// - Parameters:
    ///   - policy: When and how often a request is sent again; ``RetryPolicy/standard`` by default.
    ///   - source: The source of the credentials.
    ///   - scope: The origins that get the credential; only the connection's own by default.
    ///   - observer: Receives the events of each call, including its attempts, decisions and refreshes.
    public func standard<Source: CredentialSource, Observer: CallObserver>(
        _ policy: RetryPolicy = .standard,
        authenticatedBy source: Source,
        for scope: CredentialScope = .connection,
        observedBy observer: Observer
    ) -> some DataRequestType {
        standard(policy, authenticatedBy: source, for: scope).observing(by: observer)
    }
}
