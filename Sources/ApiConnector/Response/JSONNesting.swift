// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Keeps the decoding of ``JSONValue`` linear in the body's size.
///
/// A `JSONValue` finds its shape by trying one type after the other. Each try that fails costs Foundation's decoder time
/// that grows with the square of the depth, because its error holds the coding path: 32 KB nested 400 deep took 9.8 s.
/// So a value that is nested deeper than ``maximumTriedDepth`` stops the decoder. The body is then parsed into one
/// ``JSONValue``, and decoded again with a decoder that has it in its `userInfo`, where each value looks itself up.
enum JSONNesting {
    /// How deep values are nested within a `JSONValue` that is decoded by trying.
    static let maximumTriedDepth = 16

    /// Where a value that is being decoded stands; nil in a decoder that the library does not call.
    @TaskLocal private static var level: Level?

    private struct Level: Sendable {
        let depth: Int
        let limit: Limit
    }

    private final class Limit: Sendable {
        let isExceeded = Locked(false)
    }

    /// Thrown through the decoder; a model may swallow it.
    private struct TooDeep: Error {}

    /// Decodes JSON, once more with the parsed body where values are nested deep.
    ///
    /// - Parameters:
    ///   - json: What is decoded.
    ///   - decoder: What decodes it.
    ///   - decode: Decodes it with the decoder that it is given.
    static func decode<Value>(
        _ json: Data,
        with decoder: JSONDecoder,
        _ decode: (JSONDecoder) throws -> Value
    ) throws -> Value {
        let limit = Limit()
        let first = $level.withValue(Level(depth: 0, limit: limit)) {
            do {
                return Result<Value, any Error>.success(try decode(decoder))
            } catch {
                return .failure(error)
            }
        }
        guard limit.isExceeded.withLock({ $0 }) else { return try first.get() }
        return try decode(ParsedJSON.decoder(of: json, like: decoder))
    }

    /// Decodes what stands within a value.
    static func descend<Value>(_ decode: () throws -> Value) throws -> Value {
        guard let level else { return try decode() }
        guard level.depth < maximumTriedDepth else {
            level.limit.isExceeded.withLock { $0 = true }
            throw TooDeep()
        }
        return try $level.withValue(Level(depth: level.depth + 1, limit: level.limit), operation: decode)
    }
}

/// A parsed body, in which each ``JSONValue`` of a model finds itself by its coding path.
struct ParsedJSON: Sendable {
    private static let key = CodingUserInfoKey(rawValue: "ApiConnector.ParsedJSON")

    private let root: JSONValue

    /// The body that a decoder has with it; nil where it has none.
    static func of(_ decoder: any Decoder) -> ParsedJSON? {
        let userInfo = decoder.userInfo
        guard !userInfo.isEmpty, let key else { return nil }
        return userInfo[key] as? ParsedJSON
    }

    /// A copy of a decoder that has the body with it.
    static func decoder(of json: Data, like decoder: JSONDecoder) throws -> JSONDecoder {
        let copy = JSONDecoder()
        copy.dateDecodingStrategy = decoder.dateDecodingStrategy
        copy.dataDecodingStrategy = decoder.dataDecodingStrategy
        copy.nonConformingFloatDecodingStrategy = decoder.nonConformingFloatDecodingStrategy
        copy.keyDecodingStrategy = decoder.keyDecodingStrategy
        copy.allowsJSON5 = decoder.allowsJSON5
        copy.assumesTopLevelDictionary = decoder.assumesTopLevelDictionary
        copy.userInfo = decoder.userInfo
        guard type(of: decoder) == JSONDecoder.self, let key else {
            throw corrupted("values are nested deeper than \(JSONNesting.maximumTriedDepth) levels")
        }
        do throws(JSONValueParser.Flaw) {
            copy.userInfo[key] = ParsedJSON(root: try JSONValueParser.value(in: json))
        } catch {
            switch error {
            case .tooDeep: throw corrupted("it is nested deeper than \(JSONValueParser.maximumDepth) levels")
            case .syntax:
                throw corrupted(
                    "values are nested deeper than \(JSONNesting.maximumTriedDepth) levels in a text that is not "
                        + "plain JSON in UTF-8"
                )
            }
        }
        return copy
    }

    /// What stands at a coding path.
    func value(at path: [any CodingKey]) throws -> JSONValue {
        var value = root
        for key in path {
            if let index = key.intValue, case .array(let values) = value, values.indices.contains(index) {
                value = values[index]
            } else if case .object(let members) = value, let member = Self.member(key.stringValue, of: members) {
                value = member
            } else {
                throw Self.corrupted("values are nested deeper than \(JSONNesting.maximumTriedDepth) levels", path)
            }
        }
        return value
    }

    /// The member of a name, also as `convertFromSnakeCase` changes it.
    private static func member(_ name: String, of members: [String: JSONValue]) -> JSONValue? {
        if let member = members[name] { return member }
        let matches = members.filter { $0.key.replacing("_", with: "").lowercased() == name.lowercased() }
        return matches.count == 1 ? matches.first?.value : nil
    }

    private static func corrupted(_ reason: String, _ path: [any CodingKey] = []) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: reason))
    }
}
