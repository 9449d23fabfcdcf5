// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Collects the parts of a multipart form.
///
/// A nil value has no part.
public struct FormParts {
    /// The parts in the order in which they were added.
    public private(set) var parts: [MultipartPart] = []

    /// An empty form.
    public init() {}

    /// Adds a file, or a value that chooses its kind.
    ///
    /// Without a media type, the part has the usual one of the value.
    public mutating func add(_ name: String, _ value: (some FormValue)?, as mediaType: String? = nil) {
        if let value { parts += value.parts(named: name, as: mediaType) }
    }

    /// Adds one part per file, or per value that chooses its kind.
    public mutating func add(_ name: String, _ values: [some FormValue]?, as mediaType: String? = nil) {
        for value in values ?? [] { add(name, value, as: mediaType) }
    }

    /// Adds a text; one part per element of a list.
    public mutating func add(text name: String, _ value: (some ParameterValue)?, as mediaType: String? = nil) {
        guard let value else { return }
        let whole = value.parameterText
        let texts: [ParameterText]
        if case .list(let values) = whole { texts = values } else { texts = [whole] }
        for text in texts {
            var part = textPart(name, text)
            if let mediaType { part.mediaType = MediaType(mediaType) }
            parts.append(part)
        }
    }

    private func textPart(_ name: String, _ value: ParameterText) -> MultipartPart {
        switch value {
        case .text(let text): .text(text, name: name)
        case .list, .members: .text("", name: name)
        case .unencodable(let error): .json(UnencodableParameter(error: error), name: name)
        }
    }

    /// Adds JSON.
    ///
    /// Without a media type, the part has `application/json`.
    public mutating func add(
        json name: String,
        _ value: (some Encodable & Sendable)?,
        as mediaType: String? = nil
    ) {
        guard let value else { return }
        parts.append(.json(value, name: name, mediaType: mediaType.flatMap { MediaType($0) } ?? .json))
    }

    /// Adds one part with JSON per element.
    public mutating func add(
        jsonElements name: String,
        _ values: [some Encodable & Sendable]?,
        as mediaType: String? = nil
    ) {
        for value in values ?? [] { add(json: name, value, as: mediaType) }
    }
}

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

/// A value that a multipart form sends as a file, as text or as JSON.
public nonisolated protocol FormValue: Sendable {
    /// The parts of the form with this name.
    func parts(named name: String, as mediaType: String?) -> [MultipartPart]
}
