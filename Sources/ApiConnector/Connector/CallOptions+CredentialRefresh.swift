// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension CallOptions {
    /// Whether the call belongs to the refresh of a credential; false by default.
    ///
    /// See ``ApiRequest/isCredentialRefresh``. ``RefreshableCredentials`` needs no such option.
    public var isCredentialRefresh: Bool {
        get { values.credentialRefreshes.isUnderWay }
        set { values.credentialRefreshes.isSetByHand = newValue }
    }

    /// Makes options of a call that belongs to the refresh of a credential; everything else comes from the connection.
    public init(isCredentialRefresh: Bool) {
        self.init()
        self.isCredentialRefresh = isCredentialRefresh
    }
}
