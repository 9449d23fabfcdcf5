// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Keeps the place of a download among a transport's connections until its file is closed.
///
/// A transport with a connection limit has received the whole body before its last bytes are written, flushed and
/// moved. If the next download started then, the number of open files would not be limited.
final class FileHold: Sendable {
    private struct State {
        /// The closures that free the places; nil if the download needs no place.
        var places: [@Sendable () -> Void]?
        /// Counts the requests of the download.
        var number = 0
    }

    private let state = Locked(State())

    /// Begins to keep places, and frees those of earlier requests.
    func begin() {
        free(andKeep: [])
    }

    /// Frees all places, because the file is closed.
    func end() {
        free(andKeep: nil)
    }

    /// Frees the places of earlier requests, also of those that are still running, because another request of the same
    /// download needs one.
    ///
    /// - Returns: The number of the request, for ``keepPlace(of:until:)``.
    func renew() -> Int {
        if state.withLock({ $0.places != nil }) { begin() }
        return state.withLock { $0.number }
    }

    /// Keeps the place of a request until the file is closed.
    ///
    /// - Parameter free: Frees the place.
    /// - Returns: False if the place should be freed now.
    func keepPlace(of number: Int, until free: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.places != nil, state.number == number else { return false }
            state.places?.append(free)
            return true
        }
    }

    private func free(andKeep next: [@Sendable () -> Void]?) {
        let freed = state.withLock { state in
            defer {
                state.places = next
                state.number += 1
            }
            return state.places
        }
        for free in freed ?? [] { free() }
    }
}

private enum FileHoldValue: RequestValueKey {
    static let defaultValue: FileHold? = nil
}

extension FileHold: Hashable {
    /// Always true, because the hold does not change what is requested.
    static func == (left: FileHold, right: FileHold) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

extension RequestValues {
    /// The hold of a download's file; nil for any other request.
    var fileHold: FileHold? {
        get { self[FileHoldValue.self] }
        set { self[FileHoldValue.self] = newValue }
    }
}
