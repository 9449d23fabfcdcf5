// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

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
                input.rest(from: step.consumedByteCount),
                output.rest(from: step.producedByteCount),
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

#endif
