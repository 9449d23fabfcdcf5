// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
import Foundation

/// Exports that are too large for memory: rows in two formats, and an archive.
package enum ExportRouter: ApiRouter {
    package typealias EnvironmentType = BackendEnvironment

    /// Rows, one JSON text a line.
    case lines(count: Int)

    /// Rows, as one JSON array in `data.items`.
    case array(count: Int)

    /// Bytes that can be asked for by range, slowly if that is wanted.
    ///
    /// - Parameters:
    ///   - pause: How many milliseconds pass between two pieces of 64 KiB.
    ///   - hold: Behind how many bytes the server stops for ever, unless a range is asked for; nil for nowhere.
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
