// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension CallOptions {
    /// Whether the call is part of a credential refresh; false by default.
    ///
    /// See ``ApiRequest/isCredentialRefresh``. ``RefreshableCredentials`` needs no such option.
    public var isCredentialRefresh: Bool {
        get { values.credentialRefreshes.isMarked }
        set { values.credentialRefreshes.manualValue = newValue }
    }

    /// Makes options for a call that is part of a credential refresh.
    ///
    /// All other settings come from the connection.
    public init(isCredentialRefresh: Bool) {
        self.init()
        self.isCredentialRefresh = isCredentialRefresh
    }
}
