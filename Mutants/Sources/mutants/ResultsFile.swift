// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import MutantMaking

/// A file of results, one JSON object per line, written as results arrive.
struct ResultsFile {
    private let handle: FileHandle
    /// The results that were in the file, by identity; the last one of each mutant.
    let present: [String: MutantResult]

    /// Opens the file.
    ///
    /// - Parameters:
    ///   - url: The file; created if it does not exist.
    ///   - isKept: Whether to keep the file's content.
    init(_ url: URL, isKept: Bool) throws {
        let old = isKept ? (try? String(contentsOf: url, encoding: .utf8)) ?? "" : ""
        // The last line of an interrupted run may be incomplete.
        let results = old.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(MutantResult.self, from: Data($0.utf8))
        }
        present = Dictionary(results.map { ($0.identity, $0) }) { $1 }
        try Data().write(to: url)
        handle = try FileHandle(forWritingTo: url)
        for (_, result) in present.sorted(by: { $0.key < $1.key }) { try append(result) }
    }

    /// Adds a result.
    func append(_ result: MutantResult) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try handle.write(contentsOf: encoder.encode(result) + Data("\n".utf8))
    }
}
