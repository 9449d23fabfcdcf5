// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension DataRequestType {
    /// This provider with what most connections want round it, in the recommended order: retrying.
    ///
    /// The others of this name add credentials and an observer. From the outside in: the observer sees one call with
    /// its attempts and decisions; the credential is shown, and refreshed, outside the retries, so that a 401 costs
    /// none of them; each attempt travels by itself. The guide <doc:ComposingProviders> says why.
    ///
    /// ```swift
    /// let provider = SystemProvider().standard(authenticatedBy: credentials, observedBy: metrics)
    /// ```
    ///
    /// - Parameter policy: When and how often a request is sent again; ``RetryPolicy/standard`` by default.
    public func standard(_ policy: RetryPolicy = .standard) -> some DataRequestType {
        retrying(policy)
    }

    /// As ``standard(_:)``, with credentials.
    ///
    /// - Parameters:
    ///   - policy: When and how often a request is sent again; ``RetryPolicy/standard`` by default.
    ///   - source: Where the credentials come from.
    ///   - scope: Which origins may see them; the connection's own by default.
    public func standard<Source: CredentialSource>(
        _ policy: RetryPolicy = .standard,
        authenticatedBy source: Source,
        for scope: CredentialScope = .connection
    ) -> some DataRequestType {
        standard(policy).authenticating(by: source, for: scope)
    }

    /// As ``standard(_:)``, with an observer.
    ///
    /// - Parameters:
    ///   - policy: When and how often a request is sent again; ``RetryPolicy/standard`` by default.
    ///   - observer: What is told of each call, its attempts and decisions.
    public func standard<Observer: CallObserver>(
        _ policy: RetryPolicy = .standard,
        observedBy observer: Observer
    ) -> some DataRequestType {
        standard(policy).observing(by: observer)
    }

    /// As ``standard(_:)``, with credentials and an observer.
    ///
    /// - Parameters:
    ///   - policy: When and how often a request is sent again; ``RetryPolicy/standard`` by default.
    ///   - source: Where the credentials come from.
    ///   - scope: Which origins may see them; the connection's own by default.
    ///   - observer: What is told of each call, its attempts, decisions and refreshes.
    public func standard<Source: CredentialSource, Observer: CallObserver>(
        _ policy: RetryPolicy = .standard,
        authenticatedBy source: Source,
        for scope: CredentialScope = .connection,
        observedBy observer: Observer
    ) -> some DataRequestType {
        standard(policy, authenticatedBy: source, for: scope).observing(by: observer)
    }
}
