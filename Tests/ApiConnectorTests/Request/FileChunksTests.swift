// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

struct FileChunksTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func measuresTheTargetOfALink() throws {
        _ = try folder.write(Data(count: 5000), to: "target")
        let link = folder.url.appending(path: "link")
        try FileManager.default.createSymbolicLink(
            atPath: link.path(percentEncoded: false),
            withDestinationPath: "target"
        )
        #expect(FileChunks(file: link).byteCount == 5000)
    }

    /// A URL may remember the length that the file had before.
    @Test func measuresAFileThatHasGrown() throws {
        let file = try folder.write(Data(count: 1), to: "growing")
        _ = try file.resourceValues(forKeys: [.fileSizeKey])
        #expect(FileChunks(file: file).byteCount == 1)
        _ = try folder.write(Data(count: 2), to: "growing")
        #expect(FileChunks(file: file).byteCount == 2)
    }

    #if os(Linux)
    /// A leased file, and a task that waits to read it.
    private func waitForALease() async throws -> (lease: FileLease, reading: Task<Data, any Error>) {
        let lease = try FileLease(on: try folder.write(Data("leased".utf8), to: "leased"))
        let body = RequestBody.file(lease.file)
        let reading = Task { try await body.collect(upTo: 100) }
        await eventually { lease.isBreaking }
        return (lease, reading)
    }

    /// The system would hold the thread that opens the file until the lease ends.
    @Test func aFileWithALeaseIsReadWhenTheLeaseEnds() async throws {
        let (lease, reading) = try await waitForALease()
        // The process with the lease may still write to the file.
        #expect(FileChunks(file: lease.file).byteCount == nil)
        lease.end()
        #expect(FileChunks(file: lease.file).byteCount == 6)
        #expect(try await reading.value == Data("leased".utf8))
    }

    @Test func aCanceledCallDoesNotWaitForALease() async throws {
        let (lease, reading) = try await waitForALease()
        reading.cancel()
        let error = await #expect(throws: ApiConnectorError.self) { try await reading.value }
        #expect(error?.kind == .cancelled)
        #expect(lease.isHeld)
        lease.end()
    }
    #endif

    @Test func doesNotMeasureAMissingFile() throws {
        #expect(FileChunks(file: folder.url.appending(path: "missing")).byteCount == nil)
        #expect(FileChunks(file: try #require(URL(string: "https://example.com/"))).byteCount == nil)
    }
}
