// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Header fields that contradict the body or the URL.
struct ConflictingFieldTests {
    private func refusal(_ headers: HTTPHeaders, _ body: RequestBody) throws -> ApiConnectorError {
        let route = Endpoint(path: "/me", method: .post, headers: headers, body: body)
        let error = try #require(throws: ApiConnectorError.self) { try route.request() }
        #expect(error.kind == .invalidRequest)
        return error
    }

    private static let form = RequestBody.multipart([.text("a", name: "b")])

    @Test func refusesATypeThatReplacesTheBoundary() throws {
        for type in ["multipart/form-data", "application/json", "multipart/form-data; boundary=x"] {
            #expect(
                try refusal(["Content-Type": type], Self.form).detail
                    == "its header field Content-Type is \"\(type)\", without the boundary between the parts of its body; "
                    + "leave the field out, the body has its own type"
            )
        }
        let error = try #require(throws: ApiConnectorError.self) {
            try NetworkConnector(
                environment: Place(),
                provider: TestConnector { _ in .never },
                router: Endpoint<String>.self
            )
            .request(
                at: Endpoint(path: "/me", method: .post, body: Self.form),
                options: CallOptions(headers: ["Content-Type": "multipart/form-data"])
            )
        }
        #expect(error.kind == .invalidRequest)
    }

    @Test func leavesATypeThatHasTheBoundary() throws {
        let type = try #require(Self.form.mediaType)
        let mixed = MediaType("multipart", "mixed", parameters: type.parameters).description
        let route = Endpoint(path: "/me", method: .post, headers: ["Content-Type": mixed], body: Self.form)
        #expect(try route.request().headers.values(.contentType) == [mixed])
    }

    @Test func sendsTheFormWithItsTypeWhereADefaultNamesAnother() throws {
        let place = Place(defaultHeaders: ["Content-Type": "application/json"])
        let request = try Endpoint(path: "/me", method: .post, body: Self.form).request(in: place)
        #expect(request.headers[.contentType] == Self.form.mediaType?.description)
    }

    @Test func refusesALengthThatIsNotTheBodys() throws {
        #expect(
            try refusal(["Content-Length": "99"], .text("abc")).detail
                == "its header field Content-Length is \"99\", and its body has 3 bytes; leave the field out"
        )
        #expect(
            try refusal(["content-length": "3"], .stream { AsyncStream { $0.finish() } }).detail
                == "its header field content-length is \"3\", but the length of its body is unknown; pass the length "
                + "as the body's byteCount"
        )
        let route = Endpoint(path: "/me", method: .post, headers: ["Content-Length": "3"], body: .text("abc"))
        #expect(try route.request().body.byteCount == 3)
    }

    @Test func refusesATransferCoding() throws {
        #expect(
            try refusal(["Transfer-Encoding": "chunked"], .text("abc")).detail
                == "its header field Transfer-Encoding is set by the transport, which frames the body; leave the field "
                + "out"
        )
    }

    @Test func refusesAnotherHostInARoute() throws {
        #expect(
            try refusal(["Host": "other.example.com"], .empty).detail
                == "its header field Host is \"other.example.com\", but its URL has the host api.example.com:80; set "
                + "the host in the environment"
        )
        for host in ["api.example.com", "API.example.com:80"] {
            let route = Endpoint(path: "/me", headers: ["Host": host])
            #expect(try route.request().headers[.host] == host)
        }
    }

    /// A server that is asked by its address for one of its names.
    @Test func sendsAnotherHostOfTheEnvironment() throws {
        let place = Place(defaultHeaders: ["Host": "virtual.example.com"])
        #expect(try Endpoint(path: "/me").request(in: place).headers[.host] == "virtual.example.com")
    }
}
