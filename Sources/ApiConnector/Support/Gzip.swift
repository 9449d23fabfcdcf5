// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl
#endif

#if Curl && os(Linux)
/// The functions of zlib, if the system has the library.
///
/// Unchecked, because it contains C function pointers, which do not change while the process lives.
private struct Zlib: @unchecked Sendable {
    let functions: ccoding_zlib?

    init() {
        var functions = ccoding_zlib()
        self.functions = ccoding_load_zlib(&functions) != 0 ? functions : nil
    }
}

private let zlib = Zlib()
#endif

/// Compresses data in gzip format (RFC 1952).
enum Gzip {
    /// The data as one gzip member; nil without zlib, or for 1 GiB and more.
    static func compressed(_ data: Data) -> Data? {
        guard data.count < 1 << 30, let deflated = deflated(data) else { return nil }
        // Method 8, no flags, no time, no extra flags, an unknown system.
        var member = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])
        member.append(deflated)
        for number in [checksum(of: data), UInt32(truncatingIfNeeded: data.count)] {
            withUnsafeBytes(of: number.littleEndian) { member.append(contentsOf: $0) }
        }
        return member
    }

    /// The CRC-32 of RFC 1952, section 8.
    static func checksum(of data: Data) -> UInt32 {
        ~data.reduce(~0) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ ($0 >> 8) }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    /// The data as a deflate stream (RFC 1951).
    private static func deflated(_ data: Data) -> Data? {
        #if Curl && os(Linux)
        guard let library = zlib.functions else { return nil }
        // zlib stores the address of the stream.
        let stream = UnsafeMutablePointer<ccoding_z_stream>.allocate(capacity: 1)
        stream.initialize(to: ccoding_z_stream())
        defer { stream.deallocate() }
        let size = Int32(MemoryLayout<ccoding_z_stream>.size)
        // Level 6, method 8, a window of 32 KiB without a header, zlib's default memory and strategy.
        guard library.deflateInit2_(stream, 6, 8, -15, 8, 0, "1.2.11", size) == CCODING_Z_OK else { return nil }
        defer { _ = library.deflateEnd(stream) }
        // The worst case: stored blocks of 16 KiB with 5 additional bytes each.
        var output = [UInt8](repeating: 0, count: data.count + 5 * (data.count / 16_383 + 1) + 64)
        return data.withUnsafeBytes { input in
            let count = output.withUnsafeMutableBufferPointer { output -> Int? in
                stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
                stream.pointee.avail_in = UInt32(input.count)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(output.count)
                guard library.deflate(stream, Int32(CCODING_Z_FINISH)) == CCODING_Z_STREAM_END else { return nil }
                return output.count - Int(stream.pointee.avail_out)
            }
            return count.map { Data(output.prefix($0)) }
        }
        #elseif canImport(Darwin)
        // Raw deflate, despite the name.
        return try? (data as NSData).compressed(using: .zlib) as Data
        #else
        return nil
        #endif
    }
}
