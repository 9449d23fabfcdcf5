// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Backends
import DemoServer
import Foundation
import Testing
import Walkthrough

/// Tests of exports that are never in memory as a whole: rows that are read as they arrive, and a download that a later
/// run resumes.
struct ExportTests {
    @Test func readsEachRowInBothFormats() async throws {
        let lines = Lines()
        let sums = try await DemoServer.run { url in
            let location = try #require(ServerLocation(url))
            let exports = Exports(.exports(on: location), over: SystemProvider())
            return try await exports.sums(of: 12_345, telling: ProgressLine(isTerminal: false, write: lines.append))
        }

        let sum = (0..<12_345).reduce(0) { $0 + $1 * 7 % 1000 }
        #expect(sums == ["NDJSON": sum, "JSON array": sum])
        #expect(lines.text.components(separatedBy: "100 %  12345 of 12345 rows\n").count == 3)
    }

    @Test func saysWhichRowIsMissing() async throws {
        let rows = Data("{\"id\":0,\"name\":\"a\",\"amount\":1}\n{\"id\":2,\"name\":\"c\",\"amount\":1}".utf8)
        let exports = Exports(
            .exports(on: ServerLocation(host: "127.0.0.1", port: 1)),
            over: TestConnector { _ in .data(rows) }
        )
        let error = await #expect(throws: Unexpected.self) {
            _ = try await exports.sums(of: 2, telling: ProgressLine(isTerminal: false) { _ in })
        }
        #expect(error?.description == "the next row should be 1, but is 2")
    }

    @Test func takesUpADownloadWhereItWasLeft() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "archive")
        try await DemoServer.run { url in
            let location = try #require(ServerLocation(url))
            let api = NetworkConnector<SystemProvider, ExportRouter>(environment: .exports(on: location))
            var left = 0
            for try await event in api.download(at: .archive(hold: 1 << 20), to: file) {
                guard case .progress(let progress) = event else { continue }
                left = progress.byteCount
                if left > 1 << 19 { break }
            }
            #expect(!FileManager.default.fileExists(atPath: file.path))

            var first: Int?
            for try await event in api.download(at: .archive(hold: 1 << 20), to: file) {
                if case .progress(let progress) = event { first = first ?? progress.byteCount }
            }
            #expect(try #require(first) > left)
            #expect(try Data(contentsOf: file) == Archive.bytes(0..<Archive.byteCount))
        }
    }
}
