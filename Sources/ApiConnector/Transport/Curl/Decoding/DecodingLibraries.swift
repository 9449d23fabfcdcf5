// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// The libraries for decoding bodies that this system has.
///
/// Unchecked, because it contains C function pointers, which do not change while the process lives.
struct DecodingLibraries: @unchecked Sendable {
    var zlib: ccoding_zlib?
    var brotli: ccoding_brotli?
    var zstandard: ccoding_zstd?

    /// The libraries of this system, loaded once.
    static let system: DecodingLibraries = {
        var libraries = DecodingLibraries()
        var (zlib, brotli, zstandard) = (ccoding_zlib(), ccoding_brotli(), ccoding_zstd())
        if ccoding_load_zlib(&zlib) != 0 { libraries.zlib = zlib }
        if ccoding_load_brotli(&brotli) != 0 { libraries.brotli = brotli }
        if ccoding_load_zstd(&zstandard) != 0 { libraries.zstandard = zstandard }
        return libraries
    }()

    /// The codings that can be decoded.
    var codings: [ContentCoding] {
        (zlib == nil ? [] : [.gzip, .deflate]) + (brotli == nil ? [] : [.brotli])
            + (zstandard == nil ? [] : [.zstandard])
    }

    /// The decoder of a coding; nil if it cannot be decoded.
    func decoder(of coding: ContentCoding) -> (any ContentDecoder)? {
        switch coding {
        case .gzip: zlib.map { InflateDecoder($0, .gzip) }
        case .deflate: zlib.map { InflateDecoder($0, .deflate) }
        case .brotli: brotli.flatMap { BrotliDecoder($0) }
        case .zstandard: zstandard.flatMap { ZstandardDecoder($0) }
        case .other: nil
        }
    }
}

#endif
