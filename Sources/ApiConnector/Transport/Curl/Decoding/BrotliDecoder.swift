// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// Decodes brotli (RFC 7932); bytes after the data are ignored, as in browsers.
final class BrotliDecoder: ContentDecoder {
    private let library: ccoding_brotli
    private let state: UnsafeMutableRawPointer
    private var isAtEnd = false

    /// - Returns: Nil if there is no memory.
    init?(_ library: ccoding_brotli) {
        guard let state = library.create(nil, nil, nil) else { return nil }
        self.library = library
        self.state = state
    }

    deinit {
        library.destroy(state)
    }

    func step(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> DecodingStep {
        guard !isAtEnd else { return DecodingStep(consumedByteCount: input.count, isAtEnd: true) }
        var availableIn = input.count
        var nextIn = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var availableOut = output.count
        var nextOut = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let result = Int(library.decompress(state, &availableIn, &nextIn, &availableOut, &nextOut, nil))
        isAtEnd = result == CCODING_BROTLI_SUCCESS
        return DecodingStep(
            consumedByteCount: input.count - availableIn,
            producedByteCount: output.count - availableOut,
            isAtEnd: isAtEnd,
            fault: result == CCODING_BROTLI_ERROR ? fault : nil
        )
    }

    private var fault: String {
        library.error_text(library.error_code(state)).map { String(cString: $0) } ?? "brotli gives no reason"
    }
}

#endif
