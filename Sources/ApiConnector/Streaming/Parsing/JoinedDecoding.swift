// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Decodes several JSON texts as one array, which saves calls of the decoder.
///
/// With short texts, these calls account for a fifth of the time.
struct JoinedDecoding: Sendable {
    /// The size of a group: large enough to make the cost of the call negligible, small enough for the processor's
    /// caches.
    private static let byteCount = 32 * 1024

    /// Consecutive texts.
    struct Group {
        fileprivate(set) var texts: [JSONText] = []
        fileprivate(set) var failure: ApiConnectorError?
        fileprivate var byteCount = 0

        /// False for a single text, and if the last text is so long that copying it would be expensive.
        var isWorthJoining: Bool { texts.count > 1 && byteCount < 2 * JoinedDecoding.byteCount }
    }

    private let decoder: JSONDecoder

    /// Returns nil for a decoder with user code or `userInfo` that could observe the joining.
    init?(_ decoder: JSONDecoder) {
        guard type(of: decoder) == JSONDecoder.self, decoder.userInfo.isEmpty, !decoder.asksItsUser,
            // JSON5 has strings and comments that the search for a text's end does not know.
            !decoder.allowsJSON5
        else { return nil }
        self.decoder = decoder
    }

    /// The next texts; fewer if more bytes are needed, at the end, or before a failure.
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

    /// The values of a group's texts; nil if a text does not decode.
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
    /// Whether the decoder calls a custom closure, which gets the coding path of a value.
    fileprivate var asksItsUser: Bool {
        if case .custom = keyDecodingStrategy { return true }
        if case .custom = dateDecodingStrategy { return true }
        if case .custom = dataDecodingStrategy { return true }
        return false
    }
}
