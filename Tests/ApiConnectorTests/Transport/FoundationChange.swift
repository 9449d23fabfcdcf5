// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The outcome of some rows of a table over `URLSession` on Linux, with other versions of libcurl than 7.88.
///
/// Foundation reads responses with the libcurl that the process has loaded, so its results change with libcurl's.
struct FoundationChange<Outcome: Sendable>: Sendable {
    private let first: CurlVersion
    private let last: CurlVersion?
    private let outcome: Outcome
    private let rows: Set<String>

    /// - Parameters:
    ///   - first: The first version with this outcome.
    ///   - last: The last one; nil if later versions have this outcome too.
    ///   - rows: The names of the rows.
    init(from first: CurlVersion, to last: CurlVersion? = nil, _ outcome: Outcome, _ rows: [String]) {
        self.first = first
        self.last = last
        self.outcome = outcome
        self.rows = Set(rows)
    }

    /// The outcome of a row over the loaded libcurl; nil if it is the same as over 7.88.
    static func outcome(of row: String, in changes: [FoundationChange]) -> Outcome? {
        guard let version = CurlVersion.loaded else { return nil }
        return changes.first { $0.rows.contains(row) && $0.first <= version && version <= $0.last ?? version }?.outcome
    }

    /// The names of all rows in the changes.
    static func names(in changes: [FoundationChange]) -> Set<String> {
        changes.reduce(into: []) { $0.formUnion($1.rows) }
    }
}

/// Whether the tables are played over `URLSession`.
///
/// Over libcurl before 7.88, a wrong chunk size or a folded name ends the process: "Transfer completed, but there's no
/// response" and "String index is out of bounds" (seen with 7.76.1, 7.80.0 and 7.81.0).
let playsTablesOverURLSession = CurlVersion.loaded.map { $0 >= "7.88" } ?? false
