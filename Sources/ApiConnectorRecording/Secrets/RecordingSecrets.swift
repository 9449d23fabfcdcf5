// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// The secrets that a recording must not contain.
///
/// Most secrets are found by their names, as by ``/ApiConnector/Redactor``. A secret without such a name must be given
/// here by its value. In the file, a placeholder replaces each secret, and each secret has the same placeholder
/// everywhere. In a replay, the value replaces the placeholder of a given secret again, so that the program gets the
/// same secret as the test.
///
/// ```swift
/// let secrets: RecordingSecrets = ["bot-key": key]
/// ```
public struct RecordingSecrets: Sendable, ExpressibleByDictionaryLiteral {
    /// The given values with their placeholders, in the order of their names.
    let given: [(placeholder: String, value: String)]

    private(set) var redactor: Redactor

    /// Makes secrets from values.
    ///
    /// - Parameters:
    ///   - values: The value of each secret by the name that the secret gets in the file. An empty value is ignored.
    ///   - redactor: Decides which names mark secrets; ``/ApiConnector/Redactor/standard`` by default.
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

    /// Adds the names of the credentials that a request declares.
    ///
    /// - Returns: Whether a name is new.
    mutating func learn(from request: ApiRequest) -> Bool {
        let known = redactor
        redactor = request.redactor(from: known, includingValues: false)
        return redactor != known
    }

    /// Makes secrets from a dictionary literal: each key is a secret's name in the file, and its value is the secret.
    public init(dictionaryLiteral values: (String, String)...) {
        self.init(Dictionary(values) { _, last in last })
    }
}

/// The text that replaces a secret.
///
/// It has only letters, digits and hyphens, so that no field has to encode it.
enum Placeholder {
    private static let prefix = "REDACTED-"

    static func text(_ name: String) -> String { prefix + name }

    /// Whether a text is a placeholder.
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

    /// A name in lower case, in which a hyphen replaces each character that is not a letter or a digit.
    static func plain(_ name: String) -> String {
        let words = name.lowercased().utf8.split { !isPlain($0) }
        let text = words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-")
        return text.isEmpty ? "secret" : String(text.prefix(32))
    }

    private static func isPlain(_ byte: UInt8) -> Bool { 0x61...0x7A ~= byte || 0x30...0x39 ~= byte }
}
