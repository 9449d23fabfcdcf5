// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
import Foundation

/// Exports that are too large for memory: rows in two formats, and an archive.
package enum ExportRouter: ApiRouter {
    package typealias EnvironmentType = BackendEnvironment

    /// Rows as JSON Lines.
    case lines(count: Int)

    /// Rows, as one JSON array in `data.items`.
    case array(count: Int)

    /// Bytes, with support for range requests. They can be sent slowly.
    ///
    /// - Parameters:
    ///   - pause: The pause between two chunks of 64 KiB, in milliseconds.
    ///   - hold: The number of bytes after which the server stalls, unless the request has a range; nil for never.
    case archive(pause: Int = 0, hold: Int? = nil)

    package var path: ApiPath {
        switch self {
        case .lines: "/rows.ndjson"
        case .array: "/rows.json"
        case .archive: "/archive"
        }
    }

    package var queryItems: [URLQueryItem]? {
        switch self {
        case .lines(let count), .array(let count):
            return [URLQueryItem(name: "count", value: String(count))]
        case .archive(let pause, let hold):
            let hold = hold.map { URLQueryItem(name: "hold", value: String($0)) }
            return [URLQueryItem(name: "pause", value: String(pause))] + [hold].compactMap { $0 }
        }
    }
}
