// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// Replaces a recording's secrets with placeholders, and checks that no secret is left.
///
/// A secret has the same placeholder everywhere:
///
/// - A distinctive secret is also found by its value, in every field and every encoding.
/// - A secret that may be an ordinary word or number is replaced only where its name marks it. If its value also occurs
///   elsewhere, the recording is not saved. This does not apply to a value of less than six bytes or a number of less
///   than twelve digits.
struct RecordingRedaction {
    private let secrets: RecordingSecrets
    private let finder: SecretFinder
    private var placeholders: [String: String] = [:]
    private var numbers: [String: Int] = [:]
    /// The placeholders that are in use.
    private(set) var taken: Set<String>

    /// - Parameter kept: Exchanges that already have placeholders. No new secret gets one of these placeholders.
    init(_ secrets: RecordingSecrets, keeping kept: [RecordedExchange] = []) {
        self.secrets = secrets
        finder = SecretFinder(redactor: secrets.redactor)
        var taken = Set(secrets.given.map(\.placeholder))
        for exchange in kept {
            exchange.forEachField { _, _, bytes in
                taken.formUnion(Placeholder.all(in: String(decoding: bytes, as: UTF8.self)))
            }
        }
        self.taken = taken
        for (placeholder, value) in secrets.given { placeholders[value] = placeholder }
    }

    /// The exchanges without their secrets.
    ///
    /// - Throws: ``/ApiConnectorTesting/FixtureError`` with the place of a secret that could not be replaced.
    mutating func redacted(_ exchanges: [RecordedExchange]) throws(FixtureError) -> [RecordedExchange] {
        // Each field is searched only once, because searching a large body is slow.
        var found: [[FoundSecret]] = []
        for exchange in exchanges {
            exchange.forEachField { field, _, bytes in found.append(finder.secrets(in: field, bytes)) }
        }
        for secret in found.joined() { note(secret) }
        let known = placeholders.sorted { $0.key < $1.key }
        let everywhere = known.filter { isGiven($0.key) || Self.isTelling($0.key) }
        let search = SecretSearch(everywhere.map { Array($0.key.utf8) })
        let replacements = everywhere.map { Array($0.value.utf8) }
        var number = 0
        var isEdited: [Bool] = []
        let redacted = exchanges.map { exchange in
            var exchange = exchange
            exchange.edit { _, bytes in
                let named = found[number].map { FieldEdit(range: $0.range, replacement: replacement(of: $0)) }
                let others = search.findings(in: bytes).map { finding in
                    FieldEdit(range: finding.range, replacement: replacements[finding.secret])
                }
                number += 1
                isEdited.append(!named.isEmpty || !others.isEmpty)
                return FieldEdit.united(named + others)
            }
            return exchange
        }
        try verify(redacted, isEdited, known.filter { isGiven($0.key) || Self.isDoubtful($0.key) })
        return redacted
    }

    /// An exchange in which placeholders replace the given values, and a common text replaces secrets that are found by
    /// name.
    ///
    /// - Returns: The comparable exchange, and the replaced values in the order of names.
    func comparable(_ exchange: RecordedExchange) -> (RecordedExchange, secrets: [String]) {
        var exchange = exchange
        let search = SecretSearch(secrets.given.map { Array($0.value.utf8) })
        exchange.edit { _, bytes in
            search.findings(in: bytes).map {
                FieldEdit(range: $0.range, replacement: Array(secrets.given[$0.secret].placeholder.utf8))
            }
        }
        var found: [(kind: String, value: String)] = []
        exchange.edit { field, bytes in
            if case .header = field { return [] }
            return finder.allSecrets(in: field, bytes).map { secret in
                found.append((secret.kind, secret.value))
                let replacement = secret.isNumber ? "0" : Redactor.replacement
                return FieldEdit(
                    range: secret.range,
                    replacement: secret.quote + Array(replacement.utf8) + secret.quote
                )
            }
        }
        let ordered = found.enumerated().sorted { left, right in
            (left.element.kind, left.offset) < (right.element.kind, right.offset)
        }
        return (exchange, ordered.map { $0.element.value })
    }

    /// An answer with the given values instead of their placeholders.
    func restored(_ exchange: RecordedExchange) -> RecordedExchange {
        guard !secrets.given.isEmpty else { return exchange }
        var exchange = exchange
        let search = SecretSearch(secrets.given.map { Array($0.placeholder.utf8) })
        let values = secrets.given.map(\.value)
        exchange.edit { field, bytes in
            var isJSON = false
            if case .body(let type) = field { isJSON = type?.isJSON == true }
            return search.findings(in: bytes).map { finding in
                let value = values[finding.secret]
                let text = isJSON ? JSONValue.string(value).description.dropFirst().dropLast() : Substring(value)
                return FieldEdit(range: finding.range, replacement: Array(text.utf8))
            }
        }
        return exchange
    }

    // MARK: - Placeholders

    private mutating func note(_ secret: FoundSecret) {
        if let password = secret.basicPassword { note(password) }
        if secret.isNumber {
            if numbers[secret.value] == nil { numbers[secret.value] = numbers.count + 1 }
        } else if placeholders[secret.value] == nil {
            let name = Placeholder.plain(secret.kind)
            var number = 1
            while !taken.insert(Placeholder.text("\(name)-\(number)")).inserted { number += 1 }
            placeholders[secret.value] = Placeholder.text("\(name)-\(number)")
        }
    }

    private func replacement(of secret: FoundSecret) -> [UInt8] {
        if secret.isNumber { return Array("\(numbers[secret.value] ?? 0)".utf8) }
        let text = placeholders[secret.value] ?? Redactor.replacement
        return secret.quote + Array(text.utf8) + secret.quote
    }

    private func isGiven(_ value: String) -> Bool { secrets.given.contains { $0.value == value } }

    /// Whether a value is distinctive, so that it is replaced wherever it occurs.
    ///
    /// It has at least 16 bytes, or at least 8 bytes that are not only letters. A number is never distinctive here.
    private static func isTelling(_ value: String) -> Bool {
        let bytes = value.utf8
        guard !bytes.allSatisfy({ 0x30...0x39 ~= $0 }) else { return false }
        if bytes.count >= 16 { return true }
        let letters = bytes.count { 0x61...0x7A ~= $0 | 0x20 }
        return bytes.count >= 8 && letters < bytes.count
    }

    /// Whether another occurrence of a value is most likely the same secret, because the value is neither a short
    /// number nor a short word.
    private static func isDoubtful(_ value: String) -> Bool {
        guard !value.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return isLongNumber(value) }
        return value.utf8.count >= 6
    }

    /// Whether a value is a long number, so that another occurrence is most likely the same secret.
    ///
    /// It is not replaced elsewhere, because in JSON a text cannot replace a number.
    private static func isLongNumber(_ value: String) -> Bool {
        value.utf8.count >= 12 && value.utf8.allSatisfy { 0x30...0x39 ~= $0 }
    }

    // MARK: - Making sure

    /// - Parameters:
    ///   - isEdited: Whether each field was edited, in order. A field that was not edited contains no name of a secret.
    ///   - known: The values to search for, and their placeholders.
    private func verify(
        _ exchanges: [RecordedExchange],
        _ isEdited: [Bool],
        _ known: [(key: String, value: String)]
    ) throws(FixtureError) {
        let long = numbers.keys.filter(Self.isLongNumber).sorted()
        let search = SecretSearch(known.map { Array($0.key.utf8) } + long.map { Array($0.utf8) })
        let names = known.map(\.value) + long.map { _ in "a number" }
        var number = 0
        for (index, exchange) in exchanges.enumerated() {
            if exchange.body?.isEmpty == false, exchange.headers.nameCompression {
                throw FixtureError(
                    "a secret may be left in its body, in \(shown(exchange, index)): the body is compressed, so it "
                        + "cannot be searched; compress it with compressingBodies(from:), send it uncompressed, or send "
                        + "it through a provider without the recorder"
                )
            }
            var leak: (secret: String, place: String)?
            var wideBody: String?
            exchange.forEachField { field, name, bytes in
                if let finding = search.findings(in: bytes).first { leak = leak ?? (names[finding.secret], name) }
                if isEdited[number], let secret = finder.secrets(in: field, bytes).first(where: { !$0.isNumber }) {
                    leak = leak ?? (placeholders[secret.value] ?? secret.kind, name)
                }
                if case .body(let type) = field, let text = Redactor.inUTF8(bytes, mediaType: type),
                    !search.findings(in: text).isEmpty || !finder.secrets(in: .text, text).isEmpty
                {
                    wideBody = wideBody ?? name
                }
                number += 1
            }
            if let wideBody {
                throw FixtureError(
                    "a secret is left in \(wideBody), in \(shown(exchange, index)): the body is in UTF-16 or UTF-32, "
                        + "in which it cannot be replaced; use UTF-8, or keep it out of the exchange"
                )
            }
            // A secret may also occur elsewhere in the file, such as in a header field's name.
            if let finding = search.findings(in: Array(try HARWriter.data(exchange))).first {
                leak = leak ?? (names[finding.secret], "its entry in the file")
            }
            guard let leak else { continue }
            throw FixtureError(
                "a secret is left in \(leak.place), in \(shown(exchange, index)): the value that "
                    + "\(leak.secret) replaces; give that value to RecordingSecrets, or keep it out of the exchange"
            )
        }
    }

    private func shown(_ exchange: RecordedExchange, _ index: Int) -> String {
        "exchange \(index + 1), \(exchange.method) \(secrets.redactor.redact(text: exchange.url))"
    }
}
