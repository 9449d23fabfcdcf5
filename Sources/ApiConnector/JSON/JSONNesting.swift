// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Keeps the decoding of ``JSONValue`` linear in the body's size.
///
/// A `JSONValue` finds its shape by trying one type after the other. In Foundation's decoder, a failed try takes time
/// that grows with the square of the depth, because the error holds the coding path: 32 KB nested 400 deep took 9.8 s.
///
/// So a value nested deeper than ``maximumTriedDepth`` stops the decoder. The body is then parsed into one
/// ``JSONValue`` and decoded again. The second decoder has this value in its `userInfo`. Each `JSONValue` of a model
/// then takes its part of this value, by its coding path.
enum JSONNesting {
    /// The maximum nesting within a `JSONValue` that is decoded by trying types.
    static let maximumTriedDepth = 16

    /// The nesting level of the value being decoded; nil in a decoder that the library does not call.
    @TaskLocal private static var level: Level?

    private struct Level: Sendable {
        let depth: Int
        let limit: Limit
    }

    private final class Limit: Sendable {
        let isExceeded = Locked(false)
    }

    /// The error that stops the decoder; a model may catch it.
    private struct TooDeep: Error {}

    /// Decodes a value from JSON.
    @inline(__always)
    static func decode<Value: Decodable>(_ type: Value.Type, from json: Data, with decoder: JSONDecoder) throws -> Value
    {
        mayBeDeep(json) ? try decodeDeep(type, from: json, with: decoder) : try decoder.decode(type, from: json)
    }

    /// A separate function, because the metadata of its generic types would otherwise be looked up for each small body.
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

    /// Decodes any JSON, using the parsed body if values are nested deeply.
    ///
    /// If ``mayBeDeep(_:)`` is false, decoding without this function is faster.
    ///
    /// - Parameters:
    ///   - json: The JSON to decode.
    ///   - decoder: The decoder.
    ///   - decode: Decodes the JSON with the decoder in its parameter.
    static func decode<Value>(
        _ json: Data,
        with decoder: JSONDecoder,
        _ decode: (JSONDecoder) throws -> Value
    ) throws -> Value {
        // With a key strategy, the coding path of a value within a model may not lead to the value in the parsed body.
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

    /// Whether values may be nested deeper than ``maximumTriedDepth``: whether the JSON has more opening brackets than
    /// that.
    ///
    /// The brackets are only counted, because tracking the depth would cost 0.3 µs for a small body. Counting bytes
    /// also works for UTF-16 and UTF-32, in which a bracket is the same byte next to zero bytes.
    static func mayBeDeep(_ json: Data) -> Bool {
        json.withUnsafeBytes { bytes in
            var (index, count) = (0, 0)
            while index + 8 <= bytes.count {
                // A byte of `word` is zero if the JSON has an opening bracket at its place. The expression for `count`
                // turns each zero byte into 0x80, which has one bit, and each other byte into 0.
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

    /// Whether to parse the body before decoding: whether more than ``maximumTriedDepth`` brackets are open at the end
    /// of a block of 64 bytes.
    ///
    /// This is a guess, because brackets within strings count, too. A right guess saves the run of the first decoder,
    /// which might read most of the body before it is stopped.
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

    /// Decodes one level deeper.
    static func descend<Value>(_ decode: () throws -> Value) throws -> Value {
        guard let level else { return try decode() }
        guard level.depth < maximumTriedDepth else {
            level.limit.isExceeded.withLock { $0 = true }
            throw TooDeep()
        }
        return try $level.withValue(Level(depth: level.depth + 1, limit: level.limit), operation: decode)
    }
}

/// A parsed body, from which each ``JSONValue`` of a model takes its part by its coding path.
struct ParsedJSON: Sendable {
    private static let key = CodingUserInfoKey(rawValue: "ApiConnector.ParsedJSON")

    let root: JSONValue

    /// Parses a body for a decoder.
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

    /// The parsed body in a decoder's `userInfo`; nil if there is none.
    static func of(_ decoder: any Decoder) -> ParsedJSON? {
        let userInfo = decoder.userInfo
        guard !userInfo.isEmpty, let key else { return nil }
        return userInfo[key] as? ParsedJSON
    }

    /// A copy of a decoder with the parsed body in its `userInfo`.
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

    /// The value at a coding path.
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

    /// The member with a name, which `convertFromSnakeCase` may have changed.
    private static func member(_ name: String, of members: [String: JSONValue]) -> JSONValue? {
        if let member = members[name] { return member }
        let matches = members.filter { $0.key.replacing("_", with: "").lowercased() == name.lowercased() }
        return matches.count == 1 ? matches.first?.value : nil
    }

    private static func corrupted(_ reason: String, _ path: [any CodingKey] = []) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: reason))
    }
}
