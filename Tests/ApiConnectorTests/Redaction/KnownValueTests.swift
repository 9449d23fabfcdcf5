// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// The redactor that a request makes, which also knows the values of the request's secrets.
struct KnownValueTests {
    private func request(_ token: String) throws -> ApiRequest {
        ApiRequest(
            url: try #require(URL(string: "http://h/a")),
            headers: ["Authorization": "Bearer \(token)"]
        )
    }

    private func replaced(_ text: String, _ places: [Redactor.SecretPlace]) -> String {
        var bytes = Array(text.utf8)
        for place in places.reversed() { bytes.replaceSubrange(place.range, with: Array("***".utf8)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func aQuotedValueIsAPlaceInABodyAURLAndAField() throws {
        let redactor = try request("zebra-kiwi-42").redactor(from: .standard)
        let body = "you sent zebra-kiwi-42, sorry"
        #expect(replaced(body, redactor.secretPlaces(inBody: body.utf8)) == "you sent ***, sorry")
        let url = "http://h/zebra-kiwi-42/b"
        #expect(replaced(url, redactor.secretPlaces(inURL: url)) == "http://h/***/b")
        let field = "for zebra-kiwi-42 only"
        #expect(replaced(field, redactor.secretPlaces(inValue: field, ofHeader: "X-Note")) == "for *** only")
    }

    @Test(arguments: [" zebra-kiwi-42", "\tzebra-kiwi-42"])
    func theBlanksAfterASchemeAreNotPartOfTheValue(_ token: String) throws {
        let redactor = try request(token).redactor(from: .standard)
        #expect(redactor.redact(text: "zebra-kiwi-42 is wrong") == "REDACTED is wrong")
    }

    @Test func aPlaceFoundByNameAndByValueIsOnePlace() throws {
        let redactor = try request("zebra-kiwi-42").redactor(from: .standard)
        let body = #"{"password":"zebra-kiwi-42","note":"zebra-kiwi-42"}"#
        #expect(redactor.secretPlaces(inBody: body.utf8).count == 2)
    }

    @Test func aRedactorKnowsTheValuesOfAllItsRequests() throws {
        let first = try request("zebra-kiwi-42").redactor(from: .standard)
        let both = try request("lemon-fig-17").redactor(from: first)
        #expect(both.redact(text: "zebra-kiwi-42 and lemon-fig-17") == "REDACTED and REDACTED")
    }

    @Test func theHostAndAPlaceholderAreNotSecretValues() throws {
        let request = ApiRequest(
            url: try #require(URL(string: "http://api.example.com/a")),
            headers: ["X-Api-Key": "example.com", "X-Auth-Token": "REDACTED-token"]
        )
        let text = "example.com got REDACTED-token"
        #expect(request.redactor(from: .standard).redact(text: text) == text)
    }

    @Test func redactorsAreEqualIfTheyKnowTheSameValues() throws {
        let one = try request("zebra-kiwi-42").redactor(from: .standard)
        let same = try request("zebra-kiwi-42").redactor(from: .standard)
        let other = try request("lemon-fig-17").redactor(from: .standard)
        #expect(one == same)
        #expect(one.hashValue == same.hashValue)
        #expect(one != other)
        #expect(Set([one, same, other, .standard]).count == 3)
    }
}
