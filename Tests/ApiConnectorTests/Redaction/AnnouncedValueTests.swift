// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// A field named `value` is secret after a field that says so, and only the first one.
struct AnnouncedValueTests {
    @Test(arguments: [
        (#"{"name":"password","value":"abc"}"#, #"{"name":"password","value":"REDACTED"}"#),
        (#"{"name":"tea","value":"green"}"#, #"{"name":"tea","value":"green"}"#),
        (
            #"[{"name":"password","value":"abc"},{"value":"green"}]"#,
            #"[{"name":"password","value":"REDACTED"},{"value":"green"}]"#
        ),
        (
            #"{"name":"password","value":"abc","value":"green"}"#,
            #"{"name":"password","value":"REDACTED","value":"green"}"#
        ),
        (#"{"password":"abc","value":"green"}"#, #"{"password":"REDACTED","value":"green"}"#),
        ("token=abc value=green", "token=REDACTED value=green"),
        ("X-Api-Key: abc\nvalue=green", "X-Api-Key: REDACTED\nvalue=green"),
    ])
    func isSecretAfterItsName(_ text: String, _ expected: String) {
        #expect(Redactor.standard.redact(text: text) == expected)
    }
}
