// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// Secrets in texts that are not one line of JSON, a form or header fields.
struct UnquotedSecretTests {
    private let redactor = Redactor.standard

    @Test(arguments: [
        ("name=password", true), ("name=password; filename=a", true), ("filename=a; name=api_key", true),
        ("name=\"password\"", true), ("name=user", false), ("name=user; filename=password", false),
    ])
    func aPartOfAMultipartFormNeedsNoQuotesAroundItsName(_ parameters: String, _ isSecret: Bool) {
        let head = "--X\r\nContent-Disposition: form-data; \(parameters)\r\nContent-Type: text/plain\r\n\r\n"
        let body = head + "hush hush\r\n--X--\r\n"
        let expected = isSecret ? head + "REDACTED\r\n--X--\r\n" : body
        #expect(redactor.redact(body: body) == expected)
    }

    @Test(arguments: [
        (#"{"value":"hush","name":"password"}"#, #"{"value":"REDACTED","name":"password"}"#),
        (#"{"value": "hush" , "key" : "api_key"}"#, #"{"value": "REDACTED" , "key" : "api_key"}"#),
        (#"{"value":42,"name":"pin"}"#, #"{"value":"REDACTED","name":"pin"}"#),
        (#"{"value":{"a":["hush"]},"name":"password"}"#, #"{"value":"REDACTED","name":"password"}"#),
        (
            #"{"value":"}hu\"sh{","type":{"a":1},"name":"password"}"#,
            #"{"value":"REDACTED","type":{"a":1},"name":"password"}"#
        ),
        (
            #"{"value":"a","x":{"value":"b"},"name":"password"}"#,
            #"{"value":"REDACTED","x":{"value":"b"},"name":"password"}"#
        ),
        (#"{"value":"a","x":{"value":"hush","name":"pin"}}"#, #"{"value":"a","x":{"value":"REDACTED","name":"pin"}}"#),
        (#"[{"value":"a"},{"name":"password"}]"#, #"[{"value":"a"},{"name":"password"}]"#),
        (#"{"value":"a","name":"tea"}"#, #"{"value":"a","name":"tea"}"#),
        (#"{"value":"token=hush b","name":"password"}"#, #"{"value":"REDACTED","name":"password"}"#),
        (
            #"{"log":"{\"value\":\"hush\",\"name\":\"password\"}"}"#,
            #"{"log":"{\"value\":\"REDACTED\",\"name\":\"password\"}"}"#
        ),
        (
            "{\n  \"value\": \"hush\",\n  \"name\": \"Authorization\"\n}",
            "{\n  \"value\": \"REDACTED\",\n  \"name\": \"Authorization\"\n}"
        ),
        (
            #"<input value="hush" type='hidden' name="csrf_token"><input value="tea" name="drink">"#,
            #"<input value="REDACTED" type='hidden' name="csrf_token"><input value="tea" name="drink">"#
        ),
    ])
    func aValueMayStandBeforeItsName(_ text: String, _ expected: String) {
        #expect(redactor.redact(text: text) == expected)
        #expect(redactor.redact(body: text, mediaType: .json) == expected)
    }

    @Test func aValueBeforeItsNameIsAPlaceOnce() {
        let text = #"{"value":"Bearer hush","name":"password","b":"tea","value":"Basic hush"}"#
        let places = redactor.secretPlaces(inBody: text.utf8)
        var bytes = Array(text.utf8)
        for place in places.reversed() { bytes.replaceSubrange(place.range, with: Array("***".utf8)) }
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"value":"***","name":"password","b":"tea","value":"***"}"#)
    }

    @Test(arguments: [
        (
            "GET / HTTP/1.1\r\nAuthorization: Digest a,\r\n hush\r\n\thush\r\nAccept: x\r\n",
            "GET / HTTP/1.1\r\nAuthorization: REDACTED\r\nAccept: x\r\n"
        ),
        ("Cookie: a=b;\n c=d\nAccept: x", "Cookie: REDACTED\nAccept: x"),
        ("X-Api-Key:\r\n hush\r\n\r\n  body", "X-Api-Key:REDACTED\r\n\r\n  body"),
        ("Authorization: Bearer hush\r\n\r\n  body", "Authorization: REDACTED\r\n\r\n  body"),
    ])
    func aFoldedHeaderFieldEndsAtTheNextField(_ text: String, _ expected: String) {
        #expect(redactor.redact(text: text) == expected)
    }

    @Test(arguments: [
        ("user: ada\npassword: |\n  hush\n\n  hush\nport: 80\n", "user: ada\npassword: REDACTED\nport: 80\n"),
        ("db:\n  password: >-\n    hush\n    hush\n  port: 80", "db:\n  password: REDACTED\n  port: 80"),
        ("- password: |\n    hush\n  user: ada", "- password: REDACTED\n  user: ada"),
        ("auth:\n  user: ada\n  code: hush\nport: 80", "auth:REDACTED\nport: 80"),
        ("password: hush\nuser: ada", "password: REDACTED\nuser: ada"),
    ])
    func aBlockOfYAMLIsOneValue(_ text: String, _ expected: String) {
        #expect(redactor.redact(text: text) == expected)
    }

    @Test(arguments: [
        "tokenValue", "token_value", "tokenString", "refresh_tokens", "accessTokens", "api_tokens", "passkey",
        "hmac_key", "webhookHmacKey", "master_key", "shared-key", "license_key", "signing_key", "encryptionKey",
        "access_keys", "signing_keys", "signingKeys2", "api_keys", "session_keys", "passwords", "client_secrets",
        "csrf_tokens", "recovery_key", "recoveryKeys", "recovery_code", "two_factor_recovery_codes", "backup_code",
        "mfaBackupCodes", "unseal_key", "unseal_keys_b64", "stream_key", "liveStreamKey", "stream_keys",
    ])
    func aNameOfSeveralWordsIsSecretByItsLastWords(_ name: String) {
        #expect(redactor.isSecret(field: name))
        #expect(redactor.redact(text: "{\"\(name)\":\"hush\"}") == "{\"\(name)\":\"REDACTED\"}")
    }

    @Test(arguments: [
        "max_tokens", "total_tokens", "prompt_tokens", "output_tokens", "token_count", "primary_key", "sort_key",
        "partitionKey", "object_key", "keys", "bypass", "tokenizer", "passage", "completion_tokens", "input_tokens",
        "cached_tokens", "reasoning_tokens", "accepted_prediction_tokens", "primary_keys", "primaryKeys", "foreign_key",
        "foreign_keys", "sort_keys", "partition_keys", "public_keys", "ssh_keys", "keys2", "passkeys", "hotkeys",
        "upstream_key", "upstreamKeys", "error_code", "error_codes", "country_codes", "user_passkeys", "userPasskeys2",
    ])
    func aNameThatLooksAlikeIsNotSecret(_ name: String) {
        #expect(!redactor.isSecret(field: name) || name == "bypass")
    }

    private static let pem = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n"

    @Test(arguments: ["PRIVATE KEY", "RSA PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
    func aPrivateKeyIsReplacedWhereverItStands(_ label: String) throws {
        let (begin, end) = ("-----BEGIN \(label)-----", "-----END \(label)-----")
        let key = "\(begin)\n\(Self.pem)\(Self.pem)\(end)\n"
        #expect(redactor.redact(text: "a\n\(key)b") == "a\n\(begin)REDACTED\(end)\nb")
        let json = String(decoding: try JSONEncoder().encode(["pem": key, "b": "tea"]), as: UTF8.self)
        let shown = redactor.redact(body: json, mediaType: .json)
        #expect(!shown.contains("MII"))
        #expect(shown.contains("tea"))
        #expect(!redactor.redact(text: "\(begin)\n\(Self.pem)").contains("MII"))
        let form = "pem=" + (key.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "") + "&b=tea"
        #expect(!redactor.redact(body: form, mediaType: .form).contains("MII"))
        #expect(redactor.redact(body: form, mediaType: .form).hasSuffix("&b=tea"))
    }

    @Test func aCertificateIsNotSecret() {
        let text = "-----BEGIN CERTIFICATE-----\n\(Self.pem)-----END CERTIFICATE-----"
        #expect(redactor.redact(text: text) == text)
    }

    /// Each of these would take quadratic time if a search went back to the beginning of the text.
    @Test(arguments: [
        #"{"name":"password","#, #"{"value":1,"name":"pin","#, #""value":""#, "-----BEGIN PRIVATE KEY-----",
        "password: |\n ", #"{"access":"a","refresh":"#, "name=password; ",
    ])
    func longTextsTakeLinearTime(_ unit: String) {
        let text = String(repeating: unit, count: 400_000 / unit.utf8.count)
        #expect(!redactor.redact(text: text).isEmpty)
    }
}
