// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// What a recording must not hold.
///
/// Secrets are found by their names, as ``/ApiConnector/Redactor`` knows them; those that go by no name are given here
/// by their values. In the file each has a placeholder, the same wherever it stands. That of a given value is put back
/// when the recording is replayed, so that the program holds the same secret as the test.
///
/// ```swift
/// let secrets: RecordingSecrets = ["bot-key": key]
/// ```
public struct RecordingSecrets: Sendable, ExpressibleByDictionaryLiteral {
    /// The given values by their placeholders, in the order of their names.
    let given: [(placeholder: String, value: String)]

    private(set) var redactor: Redactor

    /// Takes secrets that go by no name.
    ///
    /// - Parameters:
    ///   - values: What each is called in the file, and its value; an empty value is left out.
    ///   - redactor: Which names are those of secrets; ``/ApiConnector/Redactor/standard`` by default.
    public init(_ values: [String: String], redactor: Redactor = .standard) {
        var taken: Set<String> = []
        given = values.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { name, value in
            let text = Placeholder.text(Placeholder.plain(name))
            var placeholder = text
            var number = 1
            while !taken.insert(placeholder).inserted {
                number += 1
                placeholder = "\(text)-\(number)"
            }
            return (placeholder, value)
        }
        self.redactor = redactor
    }

    /// Learns the names by which a request's own credential goes.
    ///
    /// - Returns: Whether they were new.
    mutating func learn(from request: ApiRequest) -> Bool {
        let known = redactor
        redactor = request.redactor(from: known, includingValues: false)
        return redactor != known
    }

    /// Takes secrets that go by no name: what each is called in the file, and its value.
    public init(dictionaryLiteral values: (String, String)...) {
        self.init(Dictionary(values) { _, last in last })
    }
}

/// What stands in place of a secret: letters, digits and hyphens, so that no place has to encode it.
enum Placeholder {
    private static let prefix = "REDACTED-"

    static func text(_ name: String) -> String { prefix + name }

    /// Whether a text is one.
    static func isOne(_ text: String) -> Bool {
        guard text.hasPrefix(prefix), text.utf8.count > prefix.utf8.count else { return false }
        return text.utf8.allSatisfy { isPlain($0) || $0 == UInt8(ascii: "-") || 0x41...0x5A ~= $0 }
    }

    /// The placeholders in a text.
    static func all(in text: String) -> Set<String> {
        guard text.contains(prefix) else { return [] }
        let words = text.utf8.split { !isPlain($0) && $0 != UInt8(ascii: "-") && !(0x41...0x5A ~= $0) }
        return Set(words.map { String(decoding: $0, as: UTF8.self) }.filter(isOne))
    }

    /// A name in lower case, with a hyphen for all that is no letter or digit.
    static func plain(_ name: String) -> String {
        let words = name.lowercased().utf8.split { !isPlain($0) }
        let text = words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-")
        return text.isEmpty ? "secret" : String(text.prefix(32))
    }

    private static func isPlain(_ byte: UInt8) -> Bool { 0x61...0x7A ~= byte || 0x30...0x39 ~= byte }
}
