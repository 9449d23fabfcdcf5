// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl
#endif

/// Decodes a body with one content coding; used by one thread at a time.
protocol ContentDecoder: AnyObject {
    /// Consumes input and writes output; the work is bounded by the lengths of both.
    ///
    /// - Parameters:
    ///   - input: The bytes that were not consumed yet; empty to request output that did not fit.
    ///   - output: The buffer for the output; never empty.
    func step(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> DecodingStep
}

/// The result of one step of a decoder.
struct DecodingStep {
    /// The number of consumed bytes.
    var consumedByteCount = 0
    /// The number of written bytes.
    var producedByteCount = 0
    /// Whether the coded data is complete, so that the body may end here.
    var isAtEnd = false
    /// Why the data cannot be decoded, in the library's words; nil if it can.
    var fault: String?
}

#if Curl && os(Linux)
/// Decodes gzip (RFC 1952) and deflate (RFC 1950) with zlib.
///
/// - A gzip body can have several members. Bytes after them that do not begin a member are ignored, as in browsers. A
///   member's first byte alone, 0x1F, is a truncated member.
/// - `deflate` data should have zlib's header; data without it is also decoded, as in browsers.
final class InflateDecoder: ContentDecoder {
    enum Format {
        case gzip, deflate
    }

    private enum State {
        /// No bytes were read.
        case start
        /// The first byte of a two-byte marker was read.
        case marker(UInt8)
        case inflating
        /// The data is complete.
        case end
        /// The data is complete, and the following bytes do not belong to it.
        case ignoring
    }

    private static let memberMarker: (UInt8, UInt8) = (0x1F, 0x8B)

    private let library: ccoding_zlib
    private let format: Format
    private let stream = UnsafeMutablePointer<ccoding_z_stream>.allocate(capacity: 1)
    private var isInitialized = false
    private var state = State.start

    init(_ library: ccoding_zlib, _ format: Format) {
        self.library = library
        self.format = format
        stream.initialize(to: ccoding_z_stream())
    }

    deinit {
        if isInitialized { _ = library.inflateEnd(stream) }
        stream.deallocate()
    }

    func step(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> DecodingStep {
        var step = DecodingStep()
        repeat {
            let isFull = take(
                UnsafeRawBufferPointer(rebasing: input[step.consumedByteCount...]),
                UnsafeMutableRawBufferPointer(rebasing: output[step.producedByteCount...]),
                &step
            )
            if isFull || step.fault != nil { break }
        } while step.consumedByteCount < input.count
        switch state {
        case .end, .ignoring: step.isAtEnd = true
        case .start, .marker, .inflating: break
        }
        return step
    }

    /// Consumes the next part of the input.
    ///
    /// - Returns: Whether no more input can be consumed in this step.
    private func take(
        _ input: UnsafeRawBufferPointer,
        _ output: UnsafeMutableRawBufferPointer,
        _ step: inout DecodingStep
    ) -> Bool {
        switch state {
        case .inflating:
            return inflate(input, output, &step)
        case .ignoring:
            step.consumedByteCount += input.count
        case .start where format == .gzip:
            if begin(windowBits: 31, &step) { state = .inflating }
        case .start:
            guard let first = input.first else { return false }
            step.consumedByteCount += 1
            state = .marker(first)
        case .end:
            guard let first = input.first else { return false }
            step.consumedByteCount += 1
            state = format == .gzip && first == Self.memberMarker.0 ? .marker(first) : .ignoring
        case .marker(let first):
            guard let second = input.first else { return false }
            step.consumedByteCount += 1
            return proceed(behind: (first, second), output, &step)
        }
        return false
    }

    /// Continues after the two-byte marker.
    private func proceed(
        behind marker: (UInt8, UInt8),
        _ output: UnsafeMutableRawBufferPointer,
        _ step: inout DecodingStep
    ) -> Bool {
        switch format {
        case .gzip:
            guard marker == Self.memberMarker else {
                state = .ignoring
                return false
            }
            _ = library.inflateReset(stream)
        case .deflate:
            // RFC 1950, section 2.2: method 8, and the two bytes are a multiple of 31.
            let isWrapped = marker.0 & 15 == 8 && (Int(marker.0) << 8 | Int(marker.1)).isMultiple(of: 31)
            guard begin(windowBits: isWrapped ? 15 : -15, &step) else { return false }
        }
        state = .inflating
        return withUnsafeBytes(of: marker) { bytes in
            var ownStep = DecodingStep()
            let isFull = inflate(bytes, output, &ownStep)
            step.producedByteCount += ownStep.producedByteCount
            step.fault = ownStep.fault
            return isFull
        }
    }

    private func begin(windowBits: Int32, _ step: inout DecodingStep) -> Bool {
        let size = Int32(MemoryLayout<ccoding_z_stream>.size)
        isInitialized = library.inflateInit2_(stream, windowBits, "1.2.11", size) == CCODING_Z_OK
        if !isInitialized { step.fault = "zlib cannot start" }
        return isInitialized
    }

    private func inflate(
        _ input: UnsafeRawBufferPointer,
        _ output: UnsafeMutableRawBufferPointer,
        _ step: inout DecodingStep
    ) -> Bool {
        stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(clamping: input.count)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(clamping: output.count)
        let code = library.inflate(stream, Int32(CCODING_Z_SYNC_FLUSH))
        step.consumedByteCount += input.count - Int(stream.pointee.avail_in)
        step.producedByteCount += output.count - Int(stream.pointee.avail_out)
        switch Int(code) {
        case CCODING_Z_OK, CCODING_Z_BUF_ERROR: break
        case CCODING_Z_STREAM_END: state = .end
        default: step.fault = stream.pointee.msg.map { String(cString: $0) } ?? "zlib's code is \(code)"
        }
        return stream.pointee.avail_out == 0 || code == CCODING_Z_BUF_ERROR
    }
}

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
