// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
package import Backends
import Foundation

/// Reads exports that are too large for memory.
package struct Exports<Provider: DataRequestType> {
    private let api: NetworkConnector<Provider, ExportRouter>

    package init(_ environment: BackendEnvironment, over provider: Provider, timeSource: any TimeSource = .system) {
        api = NetworkConnector(
            environment: environment,
            provider: provider,
            configuration: ConnectionConfiguration(timeSource: timeSource)
        )
    }

    /// Reads rows as JSON Lines, and then as the elements of one array.
    ///
    /// Each row is checked and then released.
    ///
    /// - Parameters:
    ///   - count: The expected number of rows.
    ///   - line: The progress line, updated after each thousand rows.
    /// - Returns: The sum of all amounts, for each format.
    /// - Throws: ``Unexpected`` if a row is missing.
    package func sums(of count: Int, telling line: ProgressLine) async throws -> [String: Int] {
        [
            "NDJSON": try await sum(api.stream(at: .lines(count: count), as: .jsonLines), count, line),
            "JSON array": try await sum(
                api.stream(at: .array(count: count), as: .elements(at: "data.items")),
                count,
                line
            ),
        ]
    }

    private func sum(
        _ rows: ResponseStream<ExportRow>,
        _ count: Int,
        _ line: ProgressLine
    ) async throws -> Int {
        var sum = 0
        var next = 0
        for try await row in rows {
            try expect(row.id, is: next, "the next row")
            next += 1
            sum += row.amount
            if next.isMultiple(of: 1000) || next == count { line.show(next, of: count, "rows") }
        }
        line.end()
        try expect(next, is: count, "the number of rows")
        return sum
    }

    /// Downloads the archive, or resumes the download of an interrupted run.
    package func download(
        to file: URL,
        route: ExportRouter = .archive(),
        telling line: ProgressLine
    ) async throws(ApiConnectorError) -> DownloadedFile {
        defer { line.end() }
        for try await event in api.download(at: route, to: file) {
            switch event {
            case .progress(let progress): line.show(progress)
            case .finished(let file): return file
            }
        }
        throw ApiConnectorError(.cancelled, "the download was interrupted")
    }
}
