// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// Finding a secret by its value.
struct SecretSearchTests {
    /// How a text may stand within another.
    private enum Wrapping: CaseIterable {
        case percent, escape, unicodeEscape, entity

        func wrap(_ text: String) -> String {
            switch self {
            case .percent: text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            case .escape: String(JSONValue.string(text).description.dropFirst().dropLast())
            case .unicodeEscape:
                text.unicodeScalars.map { $0.isASCII && $0.properties.isAlphabetic ? "\($0)" : $0.escapedUnits }
                    .joined()
            case .entity:
                text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
            }
        }
    }

    private func found(_ secret: String, in text: String) -> [String] {
        SecretSearch([Array(secret.utf8)]).findings(in: Array(text.utf8)).map {
            String(decoding: Array(text.utf8)[$0.range], as: UTF8.self)
        }
    }

    @Test func findsASecretEncodedUpToFourTimesInAnyCombination() throws {
        var random = SplitMix64.printed()
        let pieces = [
            "a", "Z", "9", "%41", "%", "\\", "\\n", "\"", "\n", "&", "&amp;", "<", "é", "\u{1F511}", " ", "/",
        ]
        for _ in 0..<SplitMix64.caseCount / 10 {
            let secret = "q" + (0..<8).map { _ in pieces.randomElement(using: &random) ?? "" }.joined() + "p"
            let wrappings = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                Wrapping.allCases.randomElement(using: &random) ?? .percent
            }
            let wrapped = wrappings.reduce(secret) { $1.wrap($0) }
            let text = wrappings.reduce("{ ") { $1.wrap($0) } + wrapped + wrappings.reduce(" }") { $1.wrap($0) }
            try #require(found(secret, in: text) == [wrapped], "\(wrappings) of \(secret): \(text)")
        }
    }

    /// Of a secret that does not itself look encoded.
    @Test(arguments: [5, 9, 40])
    func findsASecretEncodedAnyNumberOfTimes(_ depth: Int) {
        let secret = "tea\n\"4\" é"
        var percent = Wrapping.percent.wrap(secret)
        for _ in 1..<depth { percent = percent.replacing("%", with: "%25") }
        #expect(found(secret, in: "?a=\(percent)&b") == [percent])
        guard depth < 10 else { return }
        let escaped = (0..<depth).reduce(secret) { text, _ in Wrapping.escape.wrap(text) }
        #expect(found(secret, in: "[\(escaped)]") == [escaped])
        let mixed = (0..<depth).reduce(secret) { text, level in
            Wrapping.allCases[level % Wrapping.allCases.count].wrap(text)
        }
        #expect(found(secret, in: mixed) == [mixed])
    }

    /// Each would take minutes if what was decoded was looked at again and again.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: ["%25", "%2525", "\\\\", "\\u005c", "&amp;", "%", "%5C", "amp;", "%26amp;"]
    )
    func isLinear(piece: String) {
        let text = String(repeating: piece, count: SplitMix64.caseCount * 5 / piece.utf8.count)
        #expect(found("secret", in: text).isEmpty)
    }
}

extension Unicode.Scalar {
    /// `\u00e9`, or two of them.
    fileprivate var escapedUnits: String {
        String(self).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}
