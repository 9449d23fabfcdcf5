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

    /// Decodes a value from JSON.
    @inline(__always)
    static func decode<Value: Decodable>(_ type: Value.Type, from json: Data, with decoder: JSONDecoder) throws -> Value
    {
        mayBeDeep(json) ? try decodeDeep(type, from: json, with: decoder) : try decoder.decode(type, from: json)
    }

    /// Apart, because the metadata of its generic types would be looked up for each small body.
    @inline(never)
    private static func decodeDeep<Value: Decodable>(
        _ type: Value.Type,
        from json: Data,
        with decoder: JSONDecoder
    ) throws -> Value {
        if type == JSONValue.self, isProbablyDeep(json), let parsed = try? ParsedJSON(json, for: decoder),
            let value = parsed.root as? Value
        {
            return value
        }
        return try decode(json, with: decoder) { try $0.decode(type, from: json) }
    }

    /// Decodes JSON in which ``mayBeDeep(_:)`` found brackets, with the parsed body where values are nested deep.
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
        // A value that stands alone finds itself whatever the keys are; another one may not where a strategy changes them.
        if case .useDefaultKeys = decoder.keyDecodingStrategy, isProbablyDeep(json),
            let parsed = try? ParsedJSON(json, for: decoder)
        {
            return try decode(parsed.decoder(like: decoder))
        }
        let limit = Limit()
        let first = $level.withValue(Level(depth: 0, limit: limit)) {
            do {
                return Result<Value, any Error>.success(try decode(decoder))
            } catch {
                return .failure(error)
            }
        }
        guard limit.isExceeded.withLock({ $0 }) else { return try first.get() }
        return try decode(ParsedJSON(json, for: decoder).decoder(like: decoder))
    }

    /// Whether values may be nested deeper than ``maximumTriedDepth``: whether it has that many opening brackets.
    ///
    /// Keeping the depth costs a small body 0.3 µs. In UTF-16 and UTF-32 a bracket has the same byte, beside zeros.
    static func mayBeDeep(_ json: Data) -> Bool {
        json.withUnsafeBytes { bytes in
            var (index, count) = (0, 0)
            while index + 8 <= bytes.count {
                // A byte is zero in `word` where a bracket is; the sum carries into the highest bit of all others.
                let word =
                    bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) | 0x2020_2020_2020_2020
                    ^ 0x7B7B_7B7B_7B7B_7B7B
                let low: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
                count += (~((word & low) &+ low | word | low)).nonzeroBitCount
                if count > maximumTriedDepth { return true }
                index += 8
            }
            for byte in bytes[index...] where byte | 0x20 == UInt8(ascii: "{") { count += 1 }
            return count > maximumTriedDepth
        }
    }

    /// Whether the body is better parsed before anything is decoded: whether brackets are open at the end of a block
    /// that are more than ``maximumTriedDepth``.
    ///
    /// A guess, because it counts brackets within strings. A decoder that is stopped has read the whole body in vain.
    private static func isProbablyDeep(_ json: Data) -> Bool {
        json.withUnsafeBytes { bytes in
            var (start, depth) = (0, 0)
            while start < bytes.count {
                let end = min(start + 64, bytes.count)
                var change: Int8 = 0
                for index in start..<end {
                    let byte = bytes[index] | 0x20
                    change &+= byte == UInt8(ascii: "{") ? 1 : byte == UInt8(ascii: "}") ? -1 : 0
                }
                depth += Int(change)
                if depth > maximumTriedDepth { return true }
                start = end
            }
            return false
        }
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

    let root: JSONValue

    /// Parses a body that a decoder is to have with it.
    init(_ json: Data, for decoder: JSONDecoder) throws {
        guard type(of: decoder) == JSONDecoder.self else {
            throw Self.corrupted("values are nested deeper than \(JSONNesting.maximumTriedDepth) levels")
        }
        do throws(JSONValueParser.Flaw) {
            root = try JSONValueParser.value(in: json)
        } catch {
            switch error {
            case .tooDeep: throw Self.corrupted("it is nested deeper than \(JSONValueParser.maximumDepth) levels")
            case .syntax:
                throw Self.corrupted(
                    "values are nested deeper than \(JSONNesting.maximumTriedDepth) levels in a text that is not "
                        + "plain JSON in UTF-8"
                )
            }
        }
    }

    /// The body that a decoder has with it; nil where it has none.
    static func of(_ decoder: any Decoder) -> ParsedJSON? {
        let userInfo = decoder.userInfo
        guard !userInfo.isEmpty, let key else { return nil }
        return userInfo[key] as? ParsedJSON
    }

    /// A copy of a decoder that has the body with it.
    func decoder(like decoder: JSONDecoder) -> JSONDecoder {
        let copy = JSONDecoder()
        copy.dateDecodingStrategy = decoder.dateDecodingStrategy
        copy.dataDecodingStrategy = decoder.dataDecodingStrategy
        copy.nonConformingFloatDecodingStrategy = decoder.nonConformingFloatDecodingStrategy
        copy.keyDecodingStrategy = decoder.keyDecodingStrategy
        copy.allowsJSON5 = decoder.allowsJSON5
        copy.assumesTopLevelDictionary = decoder.assumesTopLevelDictionary
        copy.userInfo = decoder.userInfo
        if let key = Self.key { copy.userInfo[key] = self }
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
