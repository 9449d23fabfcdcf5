// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
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
        (
            #"{"name":"password","type":"text","value":"abc"}"#,
            #"{"name":"password","type":"text","value":"REDACTED"}"#
        ),
        (
            #"{"name":"password","secret":true,"value":"abc"}"#,
            #"{"name":"password","secret":true,"value":"REDACTED"}"#
        ),
        (
            #"{"name":"password","hint":"a}b>c","value":"abc"}"#,
            #"{"name":"password","hint":"a}b>c","value":"REDACTED"}"#
        ),
        (
            #"{"name":"password","rules":{"minimum":8},"value":"abc"}"#,
            #"{"name":"password","rules":{"minimum":8},"value":"REDACTED"}"#
        ),
        (
            #"{"name":"password","key":"field-1","value":"abc"}"#,
            #"{"name":"password","key":"field-1","value":"REDACTED"}"#
        ),
        ("{name: \"password\", value: \"abc\"}", "{name: \"password\", value: \"REDACTED\"}"),
        (
            "- name: password\n  value: abc\n- name: tea\n  value: green",
            "- name: password\n  value: REDACTED\n- name: tea\n  value: green"
        ),
        ("name: tea\nvalue: green", "name: tea\nvalue: green"),
        (
            #"<input name="password" title="a>b" value="abc"> value=green"#,
            #"<input name="password" title="a>b" value="REDACTED"> value=green"#
        ),
    ])
    func isSecretAfterItsName(_ text: String, _ expected: String) {
        #expect(Redactor.standard.redact(text: text) == expected)
    }

    private struct Number: ApiModel {
        let name: String
        let value: Int
    }

    private struct Choice: ApiModel {
        enum Drink: String, Codable {
            case tea
        }

        let name: String
        let value: Drink
    }

    private struct Nested: ApiModel {
        let value: [String: Int]
    }

    private func failure<Model: ApiModel>(of model: Model.Type, _ body: String) async -> String {
        let api = NetworkConnector<_, Endpoint<ApiPath>>(
            environment: Place(),
            provider: TestConnector { _ in .data(Data(body.utf8), headers: [.contentType: "application/json"]) }
        )
        do throws(ApiConnectorError) {
            _ = try await api.value(Model.self, at: Endpoint<ApiPath>(path: "/a"))
            return "no error"
        } catch {
            return error.detail
        }
    }

    @Test(arguments: [
        #"{"name":"password","value":"hunter2"}"#, #"{"value":"hunter2","name":"password"}"#,
        #"{"name":"password","type":"text","value":"hunter2"}"#,
    ])
    func isNotInADecodingError(_ body: String) async {
        let texts = [await failure(of: Number.self, body), await failure(of: Choice.self, body)]
        for text in texts {
            #expect(!text.contains("hunter2"), "\(text)")
            #expect(text.contains("REDACTED"), "\(text)")
        }
        let nested = await failure(of: Nested.self, #"{"name":"password","value":{"a":"hunter2"}}"#)
        #expect(!nested.contains("hunter2"), "\(nested)")
        let harmless = await failure(of: Number.self, #"{"name":"drink","value":"hunter2"}"#)
        #expect(harmless.contains("hunter2"))
    }
}
