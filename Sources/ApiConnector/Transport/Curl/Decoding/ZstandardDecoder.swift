// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// Decodes zstd (RFC 8878), frame by frame; bytes after a frame that do not begin another one are an error.
final class ZstandardDecoder: ContentDecoder {
    /// The maximum window: 8 MiB, which is the maximum for content coding (RFC 9659).
    static let maximumWindowLog: Int32 = 23

    private let library: ccoding_zstd
    private let stream: UnsafeMutableRawPointer

    /// - Returns: Nil if there is no memory.
    init?(_ library: ccoding_zstd) {
        guard let stream = library.create() else { return nil }
        self.library = library
        self.stream = stream
        _ = library.set_parameter(stream, Int32(CCODING_ZSTD_D_WINDOW_LOG_MAX), Self.maximumWindowLog)
    }

    deinit {
        _ = library.release(stream)
    }

    func step(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> DecodingStep {
        var into = ccoding_zstd_out(start: output.baseAddress, size: output.count, position: 0)
        var from = ccoding_zstd_in(start: input.baseAddress, size: input.count, position: 0)
        var result = 0
        // The function returns at the end of each frame and each block; a block may be four bytes long.
        repeat {
            result = library.decompress(stream, &into, &from)
        } while library.is_error(result) == 0 && from.position < from.size && into.position < into.size
        let isFault = library.is_error(result) != 0
        return DecodingStep(
            consumedByteCount: from.position,
            producedByteCount: into.position,
            isAtEnd: result == 0,
            fault: isFault ? library.error_text(result).map { String(cString: $0) } ?? "zstd gives no reason" : nil
        )
    }
}

#endif
