// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import Testing

@testable import ApiConnector

/// Every coding, in every cut, without a socket.
struct BodyDecodingTests {
    static var fixtures: [CodedFixture] {
        CodedFixture.all + [
            .rawDeflate, .checkedZstandard, .gzipMembers,
            CodedFixture(coding: "x-gzip", whole: CodedFixture.gzip.whole, bomb: CodedFixture.gzip.bomb),
        ]
    }

    private func decompression(ratio: Int = 100, byteCount: Int = 1 << 30) throws -> BodyDecompression {
        try #require(BodyDecompression(.limited(ratio: ratio, byteCount: byteCount), .system))
    }

    private func coding(_ name: String) throws -> ContentCoding {
        try #require(ContentCoding(["Content-Encoding": name]))
    }

    /// Decodes chunks to their end, and counts the slices.
    private func decode(
        _ chunks: [Data],
        _ coding: ContentCoding,
        _ decompression: BodyDecompression
    ) throws(ApiConnectorError) -> (bytes: Data, sliceCount: Int) {
        let decoding = BodyDecoding(coding, decompression)
        var (bytes, sliceCount, rest) = (Data(), 0, chunks[...])
        while true {
            switch try decoding.next() {
            case .bytes(let slice):
                bytes += slice
                sliceCount += 1
            case .nothing: sliceCount += 1
            case .needsInput:
                if let chunk = rest.popFirst() { decoding.append(chunk) } else { decoding.end() }
            case .end: return (bytes, sliceCount)
            }
        }
    }

    @Test(arguments: fixtures) func decodesEveryChunking(_ fixture: CodedFixture) throws {
        let (coding, decompression) = (try coding(fixture.coding), try decompression())
        let ways = Cuts.of(fixture.whole)
        try #require(ways.count > 40)
        for way in ways {
            #expect(try decode(way, coding, decompression).bytes == CodedFixture.text)
        }
    }

    @Test(arguments: fixtures) func refusesEveryTruncation(_ fixture: CodedFixture) throws {
        let (coding, decompression) = (try coding(fixture.coding), try decompression())
        for count in 1..<fixture.whole.count where count != fixture.boundary {
            for way in [1, 7, 4096].map({ Cuts.chunks(of: fixture.whole.prefix(count), $0) }) {
                let error = #expect(throws: ApiConnectorError.self) { try decode(way, coding, decompression) }
                #expect(error?.kind == .connectionLost, "\(count)")
            }
        }
    }

    @Test(arguments: fixtures) func decodesNoDataAsAnEmptyBody(_ fixture: CodedFixture) throws {
        let (coding, decompression) = (try coding(fixture.coding), try decompression())
        #expect(try decode([], coding, decompression).bytes.isEmpty)
        #expect(try decode([Data(), Data()], coding, decompression).bytes.isEmpty)
    }

    /// Neither a trap nor an endless loop, with any wrong byte.
    @Test(arguments: fixtures) func doesNotCrashOnAnyWrongByte(_ fixture: CodedFixture) throws {
        let (coding, decompression) = (try coding(fixture.coding), try decompression())
        var kinds: Set<ApiConnectorError.Kind> = []
        for place in 0..<fixture.whole.count {
            var bytes = Array(fixture.whole)
            bytes[place] ^= 0x55
            do throws(ApiConnectorError) {
                _ = try decode([Data(bytes)], coding, decompression)
            } catch {
                kinds.insert(error.kind)
            }
        }
        #expect(kinds.contains(.malformedResponse))
        #expect(kinds.isSubset(of: [.malformedResponse, .connectionLost]))
    }

    /// As browsers do; in zstd data what follows a frame has to be another one.
    @Test(arguments: [CodedFixture.gzip, .deflate, .brotli, .gzipMembers])
    func ignoresBytesAfterTheData(_ fixture: CodedFixture) throws {
        let (coding, decompression) = (try coding(fixture.coding), try decompression())
        for garbage in [Data([0]), Data([0, 0, 0]), Data("garbage".utf8), Data([0x1F, 0x00]), Data(count: 100_000)] {
            for way in [1, 64, 200_000].map({ Cuts.chunks(of: fixture.whole + garbage, $0) }) {
                #expect(try decode(way, coding, decompression).bytes == CodedFixture.text)
            }
        }
    }

    @Test(arguments: [Data([0]), Data([0x28]), Data("garbage".utf8)])
    func refusesBytesAfterAFrameOfZstandard(_ garbage: Data) throws {
        let whole = CodedFixture.zstandard.whole + garbage
        for chunks in [[whole], Cuts.chunks(of: whole, 1)] {
            let error = #expect(throws: ApiConnectorError.self) { try decode(chunks, .zstandard, decompression()) }
            #expect(error?.kind == .malformedResponse || error?.kind == .connectionLost && garbage.count == 1)
        }
    }

    /// The byte begins another member of gzip, which is then truncated.
    @Test(arguments: [CodedFixture.gzip, .gzipMembers, .deflate, .brotli])
    func onlyGzipIsTruncatedAfterTheFirstByteOfAMember(_ fixture: CodedFixture) throws {
        let (coding, chunks) = (try coding(fixture.coding), [fixture.whole, Data([0x1F])])
        guard coding == .gzip else {
            #expect(try decode(chunks, coding, decompression()).bytes == CodedFixture.text)
            return
        }
        let error = #expect(throws: ApiConnectorError.self) { try decode(chunks, coding, decompression()) }
        #expect(error?.kind == .connectionLost)
    }

    @Test func readsSeveralFramesOfZstandard() throws {
        let frame = CodedFixture.zstandard.whole
        // RFC 8878, section 3.1.2: a frame to be skipped.
        let skipped = Data([0x50, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 9, 9])
        for way in Cuts.of(frame + skipped + frame) {
            #expect(try decode(way, .zstandard, decompression()).bytes == CodedFixture.text + CodedFixture.text)
        }
    }

    @Test(arguments: CodedFixture.all + [.rawDeflate]) func limitsTheRatio(_ fixture: CodedFixture) throws {
        let coding = try coding(fixture.coding)
        let error = #expect(throws: ApiConnectorError.self) {
            try decode([fixture.bomb], coding, decompression(ratio: 100))
        }
        #expect(error?.kind == .bodyTooLarge)
        #expect(error?.detail == "the body expands to more than 100 times its compressed size")
        let whole = try decode([fixture.bomb], coding, decompression(ratio: 1 << 20))
        #expect(whole.bytes == Data(count: CodedFixture.bombByteCount))
        #expect(whole.sliceCount >= CodedFixture.bombByteCount / BodyDecoding.outputByteCount)
    }

    @Test(arguments: CodedFixture.all + [.rawDeflate]) func limitsTheLength(_ fixture: CodedFixture) throws {
        let error = #expect(throws: ApiConnectorError.self) {
            try decode([fixture.bomb], coding(fixture.coding), decompression(ratio: 1 << 20, byteCount: 2 << 20))
        }
        #expect(error?.kind == .bodyTooLarge)
        #expect(error?.detail == "the decompressed body is longer than the limit of 2097152 bytes")
    }

    /// Blocks that hold nothing are work all the same: each slice takes no more than its share.
    @Test func decodesEmptyBlocksSliceBySlice() throws {
        let blocks = HostileBody.emptyBlocks(byteCount: 1 << 20)
        let decoded = try decode([blocks + HostileBody.lastBlock], .deflate, decompression())
        #expect(decoded.bytes.isEmpty)
        #expect(decoded.sliceCount >= (1 << 20) / BodyDecoding.inputByteCount)
        let error = #expect(throws: ApiConnectorError.self) { try decode([blocks], .deflate, decompression()) }
        #expect(error?.kind == .connectionLost)
    }

    /// A frame that wants a window of 128 MiB.
    @Test func refusesAHugeWindowOfZstandard() throws {
        let frame = Data([0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x88, 0x4C, 0x00, 0x00, 0x08, 0x00, 0x01])
        let error = #expect(throws: ApiConnectorError.self) { try decode([frame], .zstandard, decompression()) }
        #expect(error?.kind == .malformedResponse)
        #expect(
            error?.detail == "the body is not valid zstd data: Frame requires too much memory for decoding"
        )
    }

    @Test func saysWhatIsWrongWithTheData() throws {
        let error = #expect(throws: ApiConnectorError.self) {
            try decode([Data("plain text".utf8)], .gzip, decompression())
        }
        #expect(error?.kind == .malformedResponse)
        #expect(error?.detail == "the body is not valid gzip data: incorrect header check")
    }

    @Test func saysWhichCodingIsNotDecoded() throws {
        let error = #expect(throws: ApiConnectorError.self) {
            try decode([Data("x".utf8)], coding("Compress"), decompression())
        }
        #expect(error?.kind == .malformedResponse)
        #expect(
            error?.detail
                == "the body came in the content coding compress, which was not requested and is not decoded"
        )
        var libraries = DecodingLibraries.system
        libraries.brotli = nil
        let without = try #require(BodyDecompression(.standard, libraries))
        let missing = #expect(throws: ApiConnectorError.self) {
            try decode([CodedFixture.brotli.whole], .brotli, without)
        }
        #expect(missing?.kind == .malformedResponse)
    }
}
#endif
