// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// Secrets in texts that end early, or that contain other texts.
@Suite struct CutOffValueTests {
    @Test func aMultipartValueWithoutItsBoundaryIsReplacedToTheEnd() {
        let head = "--X\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n"
        #expect(Redactor.standard.redact(body: head + "abc def\r\nghi") == head + Redactor.replacement)
    }

    @Test func aNumberInATextOfJSONEndsWithTheText() {
        let text = #"{"a":"{\"password\":1234","b":"tea"}"#
        let redacted = Redactor.standard.redact(text: text)
        #expect(!redacted.contains("1234"))
        #expect(redacted.hasSuffix(#"\"","b":"tea"}"#), "\(redacted)")
    }
}
