// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct MethodAndStatusTests {
    @Test(arguments: [
        (HTTPMethod.get, "GET", true, true), (.head, "HEAD", true, true), (.options, "OPTIONS", true, true),
        (.trace, "TRACE", true, true), (.query, "QUERY", true, true), (.put, "PUT", false, true),
        (.delete, "DELETE", false, true),
        (.post, "POST", false, false), (.patch, "PATCH", false, false), ("PURGE", "PURGE", false, false),
        ("get", "get", false, false),
    ])
    func knowsSafeAndIdempotentMethods(_ method: HTTPMethod, _ name: String, _ isSafe: Bool, _ isIdempotent: Bool) {
        #expect(method.rawValue == name)
        #expect(method.description == name)
        #expect(method.isSafe == isSafe)
        #expect(method.isIdempotent == isIdempotent)
    }

    @Test func comparesMethodsWithTheirCase() {
        #expect(HTTPMethod(rawValue: "GET") == .get)
        #expect(HTTPMethod(rawValue: "Get") != .get)
    }

    @Test(arguments: [
        (99, [false, false, false, false, false]), (100, [true, false, false, false, false]),
        (199, [true, false, false, false, false]), (200, [false, true, false, false, false]),
        (299, [false, true, false, false, false]), (300, [false, false, true, false, false]),
        (399, [false, false, true, false, false]), (400, [false, false, false, true, false]),
        (499, [false, false, false, true, false]), (500, [false, false, false, false, true]),
        (599, [false, false, false, false, true]), (600, [false, false, false, false, false]),
        (-1, [false, false, false, false, false]), (Int.max, [false, false, false, false, false]),
    ])
    func knowsTheClassOfAStatus(_ number: Int, _ classes: [Bool]) {
        let status = HTTPStatus(rawValue: number)
        #expect(
            [
                status.isInformational, status.isSuccess, status.isRedirection, status.isClientError,
                status.isServerError,
            ] == classes
        )
    }

    @Test func describesAStatusByItsPhrase() {
        #expect(HTTPStatus(rawValue: 404).description == "404 Not Found")
        #expect((418 as HTTPStatus).description == "418")
        #expect((0 as HTTPStatus).description == "0")
        #expect((200 as HTTPStatus) == HTTPStatus(rawValue: 200))
    }

    @Test func knowsTheSchemesPorts() {
        #expect(HTTPScheme.http.defaultPort == 80)
        #expect(HTTPScheme.https.defaultPort == 443)
    }
}
