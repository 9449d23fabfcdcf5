// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Keeps the place of a download among a transport's connections until its file is closed.
///
/// A transport with a connection limit has received the whole body before its last bytes are written, flushed and
/// moved. If the next download started then, the number of open files would not be limited.
final class FileHold: Sendable {
    /// The closures that free the places; nil if the download needs no place.
    private let places = Locked<[@Sendable () -> Void]?>(nil)

    /// Begins to keep places, and frees those of earlier requests.
    func begin() {
        free(andKeep: [])
    }

    /// Frees all places, because the file is closed.
    func end() {
        free(andKeep: nil)
    }

    /// Frees the places of earlier requests, because another request of the same download needs one.
    func renew() {
        if places.withLock({ $0 != nil }) { begin() }
    }

    /// Keeps a place until the file is closed.
    ///
    /// - Parameter free: Frees the place.
    /// - Returns: False if the place should be freed now.
    func keepPlace(until free: @escaping @Sendable () -> Void) -> Bool {
        places.withLock { places in
            places?.append(free)
            return places != nil
        }
    }

    private func free(andKeep next: [@Sendable () -> Void]?) {
        let freed = places.withLock { places in
            defer { places = next }
            return places
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
