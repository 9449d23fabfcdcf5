// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Synchronization

/// A value that is made on first use.
final class Lazy<Value: Sendable>: Sendable {
    private let made = Mutex<Value?>(nil)

    func value(_ make: () throws -> Value) rethrows -> Value {
        try made.withLock { made in
            if let made { return made }
            let value = try make()
            made = value
            return value
        }
    }

    func take() -> Value? {
        made.withLock { $0.take() }
    }
}
