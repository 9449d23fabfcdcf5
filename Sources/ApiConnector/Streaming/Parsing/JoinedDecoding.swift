// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Decodes several JSON texts as one array: for a small text, calling the decoder takes a fifth of the time.
struct JoinedDecoding: Sendable {
    /// How long a group gets: long enough that the call no longer counts, short enough for the processor's nearer
    /// caches.
    private static let byteCount = 32 * 1024

    /// Texts that follow each other.
    struct Group {
        fileprivate(set) var texts: [JSONText] = []
        fileprivate(set) var failure: ApiConnectorError?
        fileprivate var byteCount = 0

        /// Not a single text, and not where the last is so long that its copy would count.
        var isWorthJoining: Bool { texts.count > 1 && byteCount < 2 * JoinedDecoding.byteCount }
    }

    private let decoder: JSONDecoder

    /// Nil for a decoder with anything in it of the user's own that could tell the difference.
    init?(_ decoder: JSONDecoder) {
        guard type(of: decoder) == JSONDecoder.self, decoder.userInfo.isEmpty, !decoder.asksItsUser,
            // Its strings and comments are not where a text's end is looked for.
            !decoder.allowsJSON5
        else { return nil }
        self.decoder = decoder
    }

    /// The next texts, fewer where it needs more bytes, at the end and before a failure.
    func group(of texts: inout any JSONTexts, upTo count: Int) -> Group {
        var group = Group()
        do throws(ApiConnectorError) {
            while group.texts.count < count, group.byteCount < Self.byteCount, let text = try texts.next() {
                group.texts.append(text)
                group.byteCount += text.data.count
            }
        } catch {
            group.failure = error
        }
        return group
    }

    /// The values of a group's texts; nil where one does not decode.
    func values<Value: Decodable>(of group: Group) -> [Value]? {
        var array = Data(capacity: group.byteCount + group.texts.count + 1)
        for text in group.texts {
            array.append(array.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
            array.append(text.data)
        }
        array.append(UInt8(ascii: "]"))
        guard let values = try? decoder.decode([Value].self, from: array), values.count == group.texts.count else {
            return nil
        }
        return values
    }
}

extension JSONDecoder {
    /// Whether it asks a closure, which sees the path to a value.
    fileprivate var asksItsUser: Bool {
        if case .custom = keyDecodingStrategy { return true }
        if case .custom = dateDecodingStrategy { return true }
        if case .custom = dataDecodingStrategy { return true }
        return false
    }
}
