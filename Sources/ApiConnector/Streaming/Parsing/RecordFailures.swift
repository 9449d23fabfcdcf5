// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Tells which records of a stream are the backend's own error although they decode as an element.
///
/// An element with optional members decodes from most objects: `{"type":"error","error":{…}}` gives an element of type
/// "error". So a record in which the envelope finds a failure is compared with the element, member by member:
///
/// - If the element reads each member that the failure reads, the record is an element.
/// - Otherwise the record is a failure. With an envelope that wraps values, it may have members of the element, as a
///   whole body may have both `data` and `error`. With another envelope, it may not, because a body that decodes as
///   both is then a value.
struct RecordFailures: Sendable {
    /// A member that each failure has, as JSON; nil if no such member is known.
    private let mark: [UInt8]?
    /// The content of the failure in an object without members; nil if that is not a failure.
    private let emptyFailure: [String]?
    private let context: StreamContext

    /// An error is small.
    ///
    /// The bounds limit the work for a record that the server has made to be slow.
    static let maximumByteCount = 64 * 1024
    private static let maximumMemberCount = 32
    /// The largest product of members and bytes: each member is examined in its own copy of the record.
    private static let maximumWork = 4 * maximumByteCount

    /// Returns nil if the envelope describes no failure.
    init?<Element: Decodable>(of type: Element.Type, _ context: StreamContext) {
        guard context.envelope != BareEnvelope<NoFailure>.self else { return nil }
        let nothing = Data("{}".utf8)
        var takesAnyObject: Bool { (try? context.decoder.decode(type, from: nothing)) != nil }
        if let key = context.failureKey, context.envelope.wrapsValues || !takesAnyObject {
            mark = Array("\"\(key)\"".utf8)
            emptyFailure = nil
        } else {
            // The failure's `init(from:)` may also accept objects without the member.
            mark = nil
            emptyFailure = context.backendFailure(nothing).flatMap(Self.content)
        }
        self.context = context
    }

    /// Whether most records cannot be a failure, which costs little to find out.
    var areMarked: Bool { mark != nil }

    /// Whether a record may be a failure.
    func mayInclude(_ text: Data) -> Bool {
        guard let mark else { return true }
        return text.withUnsafeBytes { bytes in
            var index = bytes.place(of: UInt8(ascii: "\""), from: 0)
            while index + mark.count <= bytes.count {
                if mark.elementsEqual(bytes[index..<index + mark.count]) { return true }
                index = bytes.place(of: UInt8(ascii: "\""), from: index + 1)
            }
            return false
        }
    }

    /// The backend's own error; nil if the record is an element.
    func failure<Element: Decodable>(in text: Data, of type: Element.Type) -> ApiConnectorError? {
        guard mayInclude(text), text.count <= Self.maximumByteCount, let failure = context.backendFailure(text),
            // Most elements give a failure that reads none of their members, if all of its members are optional.
            emptyFailure == nil || Self.content(of: failure) != emptyFailure,
            case .object(let members)? = try? JSONValue(json: text), members.count <= Self.maximumMemberCount,
            members.count * text.count <= Self.maximumWork
        else { return nil }
        let (asElement, asFailure) = (
            members.content(decodedBy: element(type)), members.content(decodedBy: failureText)
        )
        var isMore = false
        for name in members.keys {
            let isOfElement = members.reads(name, asElement, element(type))
            let isOfFailure = members.reads(name, asFailure, failureText)
            if isOfElement, !isOfFailure, !context.envelope.wrapsValues { return nil }
            if isOfFailure, !isOfElement { isMore = true }
        }
        return isMore ? failure : nil
    }

    private func element<Element: Decodable>(_ type: Element.Type) -> (Data) -> [String]? {
        { text in
            (try? context.decoder.value(type, in: text)).map { Self.members(of: $0) }
        }
    }

    private func failureText(_ text: Data) -> [String]? {
        context.backendFailure(text).flatMap(Self.content)
    }

    private static func content(of failure: ApiConnectorError) -> [String]? {
        failure.backendFailure.map { members(of: $0) }
    }

    /// The members of a value as texts, or the value itself if it has none.
    private static func members(of value: Any) -> [String] {
        var members: [String] = []
        var mirror: Mirror? = Mirror(reflecting: value)
        while let current = mirror {
            members += texts(of: current)
            mirror = current.superclassMirror
        }
        return members.isEmpty ? [String(reflecting: value)] : members
    }

    private static func texts(of mirror: Mirror) -> [String] {
        let texts = mirror.children.map { "\($0.label ?? ""): \(text(of: $0.value))" }
        // Two equal dictionaries may have different orders.
        return mirror.displayStyle == .dictionary || mirror.displayStyle == .set ? texts.sorted() : texts
    }

    private static func text(of value: Any) -> String {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .dictionary, .set, .collection, .tuple, .optional: break
        case .struct, .enum:
            // These describe their content themselves.
            if value is any CustomStringConvertible || value is any CustomDebugStringConvertible { fallthrough }
        default: return String(reflecting: value)
        }
        return mirror.children.isEmpty ? String(reflecting: value) : "[\(texts(of: mirror).joined(separator: ", "))]"
    }
}

extension StreamContext {
    /// The key of a member that each failure has, as JSON without the quotes; nil if no such member is known.
    var failureKey: String? {
        guard let key = (envelope as? any MarkedEnvelope.Type)?.mark(with: decoder), decoder.keeps(key) else {
            return nil
        }
        return key
    }
}

extension [String: JSONValue] {
    /// The content of an object as a type shows it; nil if the object does not decode.
    fileprivate func content(decodedBy decode: (Data) -> [String]?) -> [String]? {
        let encoder = JSONEncoder()
        // A decoder may find two members with one key.
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(JSONValue.object(self))).flatMap(decode)
    }

    /// Whether a type reads a member: whether its content changes without the member, or with an array in its place.
    ///
    /// A part of the content that also changes without a reason is ignored, such as a property `let id = UUID()`.
    fileprivate func reads(_ name: String, _ content: [String]?, _ decode: (Data) -> [String]?) -> Bool {
        var (without, other) = (self, self)
        without[name] = nil
        other[name] = .array([.array([])])
        return [without, other].contains { changed in
            let new = changed.content(decodedBy: decode)
            guard new != content else { return false }
            // Decoded last: if a clock has advanced between the first two, it has also advanced before this one.
            guard let content, let new, let again = self.content(decodedBy: decode),
                new.count == content.count, again.count == content.count
            else { return true }
            return content.indices.contains { content[$0] != new[$0] && content[$0] == again[$0] }
        }
    }
}

extension JSONDecoder {
    /// Whether the decoder finds a key in JSON as it is written in code.
    fileprivate func keeps(_ key: String) -> Bool {
        guard !allowsJSON5, key.utf8.allSatisfy({ ByteSet.alphanumerics.contains($0) || $0 == UInt8(ascii: "_") })
        else { return false }
        switch keyDecodingStrategy {
        case .useDefaultKeys: return true
        case .convertFromSnakeCase: return !key.contains { $0.isUppercase || $0 == "_" }
        default: return false
        }
    }
}

private protocol MarkedEnvelope {
    /// A member that each failure has; nil if no such member is known.
    static func mark(with decoder: JSONDecoder) -> String?
}

extension DataEnvelope: MarkedEnvelope {
    fileprivate static func mark(with decoder: JSONDecoder) -> String? { Keys.failure.rawValue }
}

extension JSONAPIEnvelope: MarkedEnvelope {
    fileprivate static func mark(with decoder: JSONDecoder) -> String? { Keys.failure.rawValue }
}

extension BareEnvelope: MarkedEnvelope {
    /// The member that the failure reads first.
    fileprivate static func mark(with decoder: JSONDecoder) -> String? {
        do {
            _ = try decoder.decode(Failure.self, from: Data("{}".utf8))
        } catch DecodingError.keyNotFound(let key, let context) where context.codingPath.isEmpty {
            return key.stringValue
        } catch {}
        return nil
    }
}
