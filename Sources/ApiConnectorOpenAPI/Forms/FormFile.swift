// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A file of a multipart form.
public struct FormFile: FormValue {
    /// The content, such as `.file(url)` or `.data(bytes)`.
    public var body: RequestBody

    /// The file's name; nil leaves it out.
    public var fileName: String?

    /// Makes a file.
    public init(_ body: RequestBody, fileName: String? = "file") {
        self.body = body
        self.fileName = fileName
    }

    /// The file as a part.
    public func parts(named name: String, as mediaType: String?) -> [MultipartPart] {
        var part = MultipartPart(body, name: name, fileName: fileName)
        if let mediaType { part.mediaType = MediaType(mediaType) ?? part.mediaType }
        return [part]
    }
}

extension FormFile: Codable {
    /// Throws: a file can be part of a form, not of JSON.
    public init(from decoder: any Decoder) throws {
        let context = DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "JSON has no files.")
        throw DecodingError.dataCorrupted(context)
    }

    /// Throws: a file can be part of a form, not of JSON.
    public func encode(to encoder: any Encoder) throws {
        let context = EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "JSON has no files.")
        throw EncodingError.invalidValue("a file", context)
    }
}
