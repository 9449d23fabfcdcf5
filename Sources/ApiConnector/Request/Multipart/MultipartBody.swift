// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A multipart form (RFC 7578), whose parts are written one after the other while it is sent.
struct MultipartBody: Sendable {
    let boundary: String
    let parts: [MultipartPart]

    /// The boundary has 128 random bits, so that no part contains it, by chance or on purpose.
    ///
    /// It has only letters, digits and a hyphen, so it needs no quotes.
    init(_ parts: [MultipartPart], using generator: inout some RandomNumberGenerator) {
        self.parts = parts
        let digits = [UInt64.random(in: 0...(.max), using: &generator), .random(in: 0...(.max), using: &generator)]
            .map { String($0, radix: 16) }
            .map { String(repeating: "0", count: 16 - $0.count) + $0 }
        boundary = "part-" + digits.joined()
    }

    private init(boundary: String, parts: [MultipartPart]) {
        self.boundary = boundary
        self.parts = parts
    }

    var mediaType: MediaType {
        MediaType("multipart", "form-data", parameters: [.init(name: "boundary", value: boundary)])
    }

    /// The length; nil if the length of a part is unknown, or if the sum exceeds `Int.max`.
    var byteCount: Int? {
        var count = closing.count
        for index in parts.indices {
            guard let bodyByteCount = parts[index].body.byteCount else { return nil }
            let (sum, overflows) = bodyByteCount.addingReportingOverflow(count + opening(of: index).count)
            if overflows { return nil }
            count = sum
        }
        return count
    }

    /// The source that writes the form.
    var source: RequestBodySource {
        RequestBodySource(byteCount: byteCount, isReplayable: parts.allSatisfy(\.body.isReplayable)) { deliver in
            for index in parts.indices {
                let part = try parts[index].encoded(with: JSONEncoder())
                try await deliver(opening(of: index))
                try await part.body.send { (chunk) throws(ApiConnectorError) in
                    do {
                        try await deliver(chunk)
                    } catch {
                        throw ApiConnectorError(mapping: error, request: nil)
                    }
                }
            }
            try await deliver(closing)
        }
    }

    /// The same form with encoded parts.
    func encoded(with encoder: JSONEncoder) throws(ApiConnectorError) -> MultipartBody {
        var encoded: [MultipartPart] = []
        for part in parts { encoded.append(try part.encoded(with: encoder)) }
        return MultipartBody(boundary: boundary, parts: encoded)
    }

    /// The text before a part's body: the delimiter and the part's header fields.
    private func opening(of index: Int) -> Data {
        var text = index == 0 ? "--\(boundary)\r\n" : "\r\n--\(boundary)\r\n"
        for field in parts[index].fields { text += "\(field.name): \(field.value)\r\n" }
        return Data((text + "\r\n").utf8)
    }

    private var closing: Data {
        Data((parts.isEmpty ? "--\(boundary)--\r\n" : "\r\n--\(boundary)--\r\n").utf8)
    }
}

extension RequestBody {
    /// A form with parts, as browsers send forms with files: `multipart/form-data` (RFC 7578).
    ///
    /// ```swift
    /// .multipart([.text("Ted", name: "title"), .file(photo, name: "photo", mediaType: MediaType("image", "jpeg"))])
    /// ```
    ///
    /// Each part is read when it is sent, so the form is never assembled in memory or on disk. Its length is known if
    /// the length of each part is, and it can be sent again if each part can. If a part cannot be sent, for example
    /// because its file is missing, the call fails with kind `.encodingFailed` before anything is sent.
    public static func multipart(_ parts: [MultipartPart]) -> RequestBody {
        var generator = SystemRandomNumberGenerator()
        return multipart(parts, using: &generator)
    }

    /// Like ``multipart(_:)``, with your own random generator for the boundary, for example in a test that compares
    /// bytes.
    public static func multipart(
        _ parts: [MultipartPart],
        using generator: inout some RandomNumberGenerator
    ) -> RequestBody {
        RequestBody(multipart: MultipartBody(parts, using: &generator))
    }
}
