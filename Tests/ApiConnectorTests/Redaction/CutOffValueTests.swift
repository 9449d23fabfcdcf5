// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// Secrets in texts that end early, or that contain other texts.
struct CutOffValueTests {
    @Test func aMultipartValueWithoutItsBoundaryIsReplacedToTheEnd() {
        let head = "--X\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n"
        #expect(Redactor.standard.redact(body: head + "abc def\r\nghi") == head + Redactor.replacement)
    }

    @Test func aMultipartValueThatIsCutOffInALineBreakEndsBeforeIt() {
        let head = "--X\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n"
        #expect(Redactor.standard.redact(body: head + "abc\r") == head + "REDACTED\r")
    }

    /// Its value follows the text's end, after a blank.
    @Test(arguments: [
        ("token=password: hush", "token=REDACTED REDACTED"),
        ("token=a\"password\" : hush", "token=REDACTED : \"REDACTED\""),
    ])
    func aNameAtTheEndOfAnUnquotedValueHasItsOwnValue(_ text: String, _ expected: String) {
        #expect(Redactor.standard.redact(text: text) == expected)
    }

    @Test(arguments: [
        ("<password>/abc</password>", "<password>REDACTED</password>"),
        ("<password />abc", "<password />abc"),
    ])
    func onlyASlashBeforeTheBracketEndsAnElement(_ text: String, _ expected: String) {
        #expect(Redactor.standard.redact(text: text) == expected)
    }

    @Test(arguments: [
        ("session: 42abc", "session: REDACTED"),
        ("session:abc", "session:REDACTED"),
        ("session:8080", "session:8080"),
        ("session:9f8e7d", "session:REDACTED"),
        ("auth:4a1b", "auth:REDACTED"),
        ("auth:123456", "auth:REDACTED"),
        ("auth:4/0AX4", "auth:REDACTED"),
        ("auth:8080/a", "auth:8080/a"),
        ("dial auth2:8080: refused", "dial auth2:8080: refused"),
        ("no route to session:8080.", "no route to session:8080."),
    ])
    func onlyDigitsRightAfterTheColonAreAPort(_ text: String, _ expected: String) {
        #expect(Redactor.standard.redact(text: text) == expected)
    }

    /// The shown part ends before the text says that it is secret, or within it.
    @Test(arguments: [
        #"{"value":"hush","padding":"\#(padding)","name":"password"}"#,
        #"{"access":"hush","padding":"\#(padding)","refresh":"b"}"#,
        #"{"id":"\#(padding) \#(longPadding) eyJhbGciOiJodXNoIn0.eyJodXNoIjoxfQ.hush"}"#,
        #"{"password":"\#(padding)hush"}"#,
    ])
    func aBodyIsRedactedBeforeItIsCut(_ text: String) throws {
        let request = ApiRequest(url: try #require(URL(string: "http://h/p")))
        let response = ApiResponse(to: request, status: 401)
        let error = ApiConnectorError(.unacceptableStatus, "no", response: response, body: Data(text.utf8))
        let shown = try #require(error.response?.bodyPrefix)
        #expect(!shown.contains("hush"), "\(shown)")
        #expect(!shown.contains("eyJ"), "\(shown)")
        #expect(shown.contains("REDACTED"))
    }

    private static let padding = String(repeating: "x", count: 1_000)
    private static let longPadding = "yyyyy"

    @Test func aNumberInATextOfJSONEndsWithTheText() {
        let text = #"{"a":"{\"password\":1234","b":"tea"}"#
        let redacted = Redactor.standard.redact(text: text)
        #expect(!redacted.contains("1234"))
        #expect(redacted.hasSuffix(#"\"","b":"tea"}"#), "\(redacted)")
    }

    @Test(arguments: 1...6) func aQuoteOfTheNextEncodingIsAPartOfTheValue(_ depth: Int) {
        func encoded(_ text: String) -> String {
            (0..<depth).reduce(text) { text, _ in
                text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            }
        }
        let (head, end) = (encoded(#"{"password":""#), encoded(#"","c":1}"#))
        let text = head + encoded("hush%22hush") + end
        #expect(Redactor.standard.redact(text: text) == head + Redactor.replacement + end)
    }
}
