// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

@testable import goals

struct EndlessDataTests {
    /// The output of gzip for the first bytes of a layer, up to a limit.
    ///
    /// gzip's error about the missing end is discarded.
    private func unzipped(_ bytes: [UInt8], layers: Int = 1, upTo byteCount: Int) throws -> [UInt8] {
        let file = FileManager.default.temporaryDirectory.appending(path: "endless-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(bytes).write(to: file)
        let pipe = String(repeating: "| gzip -dc 2>/dev/null ", count: layers)
        let output = "\(file.path).output"
        defer { try? FileManager.default.removeItem(atPath: output) }
        try Program.output(of: "cat '\(file.path)' \(pipe)| head -c \(byteCount) >'\(output)'")
        return Array(try Data(contentsOf: URL(filePath: output)))
    }

    @Test func gzipDecodesToTheSameBytes() throws {
        let data = EndlessData(start: [1, 200, 3], period: [9, 144, 255, 0, 143, 7, 31])
        #expect(try unzipped(data.gzip.prefix(2000), upTo: 200_000) == Array(data.prefix(200_003).prefix(200_000)))
    }

    @Test(arguments: [1, 2, 4, 5, 8, 9, 13, 33, 100])
    func gzipDecodesPeriodsOfEachLength(count: Int) throws {
        let data = EndlessData(start: [], period: (0..<count).map { UInt8(truncatingIfNeeded: $0 * 3) })
        #expect(try unzipped(data.gzip.prefix(1000), upTo: 50_000) == Array(data.prefix(50_200).prefix(50_000)))
    }

    @Test func gzipWithinGzipHasAllOfItsLayersAndThenNoOutput() throws {
        let inner = HostileFixture.emptyBlocks
        let wire = inner.gzip.gzip.gzip.prefix(3000)
        #expect(try unzipped(wire, layers: 3, upTo: 100_000) == Array(inner.prefix(100_010).prefix(100_000)))
        #expect(try unzipped(Array(inner.prefix(100_000)), upTo: 10).isEmpty)
    }
}
