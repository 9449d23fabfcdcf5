// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// A secret in one of the forms in which it travels; its ends are words that stand nowhere else.
struct PlantedSecret: Sendable, CustomTestStringConvertible {
    enum Form: CaseIterable {
        case raw, percentEncoded, base64, jsonEscaped, jsonEscapedWhole
    }

    let form: Form
    let text: String
    /// Both ends of the secret in this form; no text may contain them.
    let traces: [String]

    /// Puts the core between two words; the core omits characters that a place forbids in raw form.
    init(_ form: Form, core: String = "\" '\\/{}[]:;,=+%40&é\u{1F511}") {
        let plain = "zqkAlpha\(core)zqkOmega"
        self.form = form
        switch form {
        case .raw:
            text = plain
        case .percentEncoded:
            text = plain.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        case .base64:
            text = Data(plain.utf8).base64EncodedString()
        case .jsonEscaped:
            text = Self.jsonEscaped(plain)
        case .jsonEscapedWhole:
            text = plain.utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
        switch form {
        case .base64: traces = [String(text.prefix(8)), String(text.suffix(10).prefix(6))]
        case .jsonEscapedWhole: traces = ["u007a", "u006b", "u0061"]
        default: traces = ["zqkAlpha", "zqkOmega"]
        }
    }

    var testDescription: String { "\(form)" }

    static var all: [PlantedSecret] { Form.allCases.map { PlantedSecret($0) } }

    /// The secrets that can be the value of a query item or of a form's field; a raw ampersand would end the value.
    static var ofForms: [PlantedSecret] {
        Form.allCases.map { form in
            let isEncoded = form == .percentEncoded || form == .base64 || form == .jsonEscapedWhole
            return isEncoded ? PlantedSecret(form) : PlantedSecret(form, core: "\"'\\/{}[]:;,=+%40é\u{1F511}")
        }
    }

    /// The secrets that can be user info.
    static var ofUserInfo: [PlantedSecret] {
        [
            PlantedSecret(.raw, core: ":;,=+!$*"), PlantedSecret(.percentEncoded),
            PlantedSecret(.base64, core: "plain"), PlantedSecret(.jsonEscapedWhole),
        ]
    }

    /// The text as it appears in a JSON string; forms that are already escaped stay unchanged.
    var inJSON: String {
        form == .jsonEscaped || form == .jsonEscapedWhole ? text : Self.jsonEscaped(text)
    }

    private static func jsonEscaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("/", with: "\\/")
            .replacing("é", with: "\\u00e9")
    }

    /// The traces that a text holds; empty as it should be.
    func traces(in text: String) -> [String] {
        traces.filter { text.contains($0) }
    }
}
