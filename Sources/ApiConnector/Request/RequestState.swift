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

    /// At most one element, because an array is copied on write.
    ///
    /// It is empty, and needs no memory, until a part is set.
    private var storage: [Parts] = []

    /// Reads a part without a copy; changing a part copies all parts if another request shares them.
    var parts: Parts {
        @inline(__always)
        _read {
            if storage.isEmpty { yield Parts() } else { yield storage[0] }
        }
        @inline(__always)
        _modify {
            if storage.isEmpty { storage.append(Parts()) }
            yield &storage[0]
        }
    }

    /// Whether two states share their storage, so that all their parts are equal.
    func isCopy(of other: RequestState) -> Bool {
        storage.withUnsafeBufferPointer { own in
            other.storage.withUnsafeBufferPointer { own.baseAddress == $0.baseAddress }
        }
    }
}
