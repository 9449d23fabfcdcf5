// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// Random surroundings: nothing traps, and a field that stands whole in them is found.
struct RedactorFuzzTests {
    /// 5,000 in release, 100 in debug; the texts that must be read in linear time are a hundred times as long.
    private static let runCount = SplitMix64.caseCount / 20

    private static let pieces = [
        "\"", "'", "\\", "\\\"", "\\\\", "%", "%22", "%25", "%2522", "%5C%22", "%FF", "&", "&amp;", "&quot;", "=", ":",
        ",", "{", "}", "[", "]", "<", ">", "</", "/", "//", "://", "@", "?", "#", ";", " ", "\n", "\r\n", "\r\n\r\n",
        "\t",
        "\0", "é", "\u{301}", "\u{1F511}", "\\u0022", "\\ud83d", "\\u00", "name", "\"name\":", "value", "user", "a",
        "1",
        "Bearer ", "basic ", "eyJ", "--", "null", "http", "page=2", "\"id\":3", "<b>", "x:y@z", "&#3", "\\n", "ſ",
    ]

    private func noise(_ random: inout SplitMix64, upTo count: Int = 40) -> String {
        (0..<Int.random(in: 0...count, using: &random)).map { _ in
            Self.pieces.randomElement(using: &random) ?? ""
        }.joined()
    }

    @Test func neverLeaksAFieldInAnyContext() throws {
        var random = SplitMix64.printed()
        var leaks: [String] = []
        for run in 0..<Self.runCount {
            let name = PlantedSecretTests.fieldNames.randomElement(using: &random) ?? ""
            let secrets = [PlantedSecret(.percentEncoded), .init(.base64, core: "\" '"), .init(.raw, core: "-._~")]
            let secret = secrets.randomElement(using: &random) ?? secrets[0]
            let field =
                [
                    "\"\(name)\":\"\(secret.inJSON)\"",
                    "\"\(name)\": \"\(PlantedSecret(.jsonEscaped, core: "\\\"é").text)\"",
                    "\"\(name)\":{\"a\":\"\(secret.inJSON)\"}", "&\(name)=\(secret.text)&", "?\(name)=\(secret.text) ",
                    " Authorization: Bearer \(secret.text)\n", " http://u:\(secret.text)@h/ ",
                    " Bearer \(secret.text) ",
                ].randomElement(using: &random) ?? ""
            // The text after the field is cut off at any place, also inside the field.
            let text = noise(&random) + field + noise(&random)
            let cut = String(
                decoding: text.utf8.prefix(Int.random(in: 0...2 * text.utf8.count, using: &random)),
                as: UTF8.self
            )
            for text in [text, cut] {
                let redacted = [
                    Redactor.standard.redact(text: text), Redactor.standard.redact(body: text),
                    Redactor.standard.redact(body: text, mediaType: .json),
                    String(decoding: Redactor.standard.redact(body: Data(text.utf8)), as: UTF8.self),
                ]
                if let leak = redacted.first(where: { !secret.traces(in: $0).isEmpty || $0.contains("zqk") }) {
                    leaks.append("run \(run): \(readable(text)) -> \(readable(leak))")
                }
            }
        }
        #expect(leaks.first == nil, "\(leaks.count) leaks")
    }

    private func readable(_ text: String) -> String {
        text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
    }

    @Test func acceptsAnyBytesAndIsIdempotent() throws {
        var random = SplitMix64.printed()
        var isAtRest = 0
        for _ in 0..<Self.runCount {
            let text = noise(&random, upTo: 60)
            var bytes = Data(text.utf8)
            for _ in 0..<Int.random(in: 0...8, using: &random) where !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let wild = String(decoding: bytes, as: UTF8.self)
            _ = Redactor.standard.redact(body: bytes, mediaType: .form)
            _ = Redactor.standard.redact(body: bytes)
            if let url = URL(string: wild) { _ = Redactor.standard.redact(url) }
            for name in ["Location", "Set-Cookie", "Authorization", "X-Other"] {
                _ = Redactor.standard.redact(wild, ofHeader: HTTPHeaders.Name(name))
            }
            let once = Redactor.standard.redact(text: wild)
            isAtRest += Redactor.standard.redact(text: once).count <= once.count + 16 ? 1 : 0
        }
        #expect(isAtRest == Self.runCount)
    }

    /// Each would take minutes if a rule looked again and again at the same text.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            "\"", "'", "\\\"", "\\", "%25", "%22\\\"", "//", "//%2F", "//a:b", "<token ", "<token>", "\"a\" ", "token:",
            "a=",
            "token={", "Basic auth ", "Basic a=\"", " ", "*", "\n", "\"name\":\"pin\"\n\n", "\"pin\":",
            "\"pin\":\"pin\" ", "Bearer \"pin\":\"a", "pin=b: \"c\":",
            "<pin a=\"pin\":", "&quot;", "@", "a ",
            "//a:b@", "\\u0022", "\"access\":[,\"refresh\":[,", "{\\\"value\\\":x!,\\\"name\\\":\\\"pin\\\"},",
        ]
    )
    func isLinear(piece: String) {
        let text = String(repeating: piece, count: Self.runCount * 100 / piece.utf8.count)
        for mediaType in [MediaType.plainText, .form] {
            #expect(!Redactor.standard.redact(body: text, mediaType: mediaType).isEmpty)
        }
    }
}
