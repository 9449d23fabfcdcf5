// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The library's own part of a request: one reference with copy-on-write storage.
///
/// A wrapper that changes the URL, the header fields or the body of a request does not copy the state. Each part is
/// private to the file that declares its type: the part's members are `fileprivate` there.
struct RequestState: Sendable {
    struct Parts: Sendable {
        /// Declared in CallContext.swift.
        var call = Call()
        /// Declared in RequestSettings.swift.
        var settings = Settings()
        /// Declared in RequestCredentials.swift.
        var credentials = Credentials()
        /// Declared in RequestSecrets.swift.
        var secrets = Secrets()
        /// Declared in AttemptHistory.swift.
        var attempts = Attempts()
        /// Declared in CallEvents.swift.
        var events = Events()
        /// Declared in ApiRequest+TimeLimits.swift.
        var limits = Limits()
    }

    /// Immutable, so that requests can share it.
    final class Storage: Sendable {
        let parts: Parts

        init(_ parts: Parts) { self.parts = parts }
    }

    /// Nil until a part is set.
    private(set) var storage: Storage?

    /// Makes the state of a new request; with one allocation, or with none for a request without a call.
    init(_ call: CallContext? = nil, _ settings: RequestSettings? = nil) {
        guard call != nil || settings != nil else { return }
        storage = Storage(Parts(call: Call(call), settings: Settings(settings)))
    }

    /// Changes a part, in a copy of all parts.
    mutating func change(_ change: (inout Parts) -> Void) {
        var parts = storage?.parts ?? Parts()
        change(&parts)
        storage = Storage(parts)
    }

    /// Whether two states share their storage, so that all their parts are equal.
    func isCopy(of other: RequestState) -> Bool { storage === other.storage }
}
