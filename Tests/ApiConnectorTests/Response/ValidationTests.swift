// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

struct ValidationTests {
    private func connection(
        _ status: Int,
        type: String = "application/json",
        validation: ResponseValidation = .standard
    ) -> NetworkConnector<TestConnector<ClosureResponses>, Endpoint<String>> {
        NetworkConnector(
            environment: Place(),
            provider: TestConnector { _ in
                .data(Data("1".utf8), status: HTTPStatus(rawValue: status), headers: ["Content-Type": type])
            },
            configuration: ConnectionConfiguration(validation: validation)
        )
    }

    private func failure(
        _ status: Int,
        type: String = "application/json",
        connection validation: ResponseValidation = .standard,
        call: ResponseValidation? = nil
    ) async throws -> ApiConnectorError? {
        let api = connection(status, type: type, validation: validation)
        let options = CallOptions(validation: call)
        do {
            _ = try await api.value(Int.self, at: Endpoint(path: "/it"), options: options)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [200, 201, 226, 299])
    func acceptsEvery2xxByDefault(_ status: Int) async throws {
        #expect(try await failure(status) == nil)
    }

    @Test(arguments: [199, 300, 302, 304, 400, 404, 500, 599, 999])
    func refusesEveryOtherStatusByDefault(_ status: Int) async throws {
        let error = try #require(try await failure(status))
        #expect(error.kind == .unacceptableStatus || (status == 302 && error.kind == .redirectRefused))
        #expect(error.response?.status.rawValue == status)
    }

    @Test(arguments: ["application/json", "application/json; charset=utf-8", "application/hal+json", "text/json"])
    func acceptsEveryJSONTypeByDefault(_ type: String) async throws {
        #expect(try await failure(200, type: type) == nil)
    }

    /// Its parameters are not compared, even if one is repeated.
    @Test func acceptsTheTextOfTheAcceptField() async throws {
        let type = "text/plain;a=1;a=2"
        let options = CallOptions(headers: [.accept: type])
        let data = try await connection(200, type: type).data(at: Endpoint(path: "/it"), options: options)
        #expect(data == Data("1".utf8))
    }

    @Test func refusesHTMLIfJSONIsRequested() async throws {
        let error = try #require(try await failure(200, type: "text/html; charset=utf-8"))
        #expect(error.kind == .unacceptableMediaType)
        #expect(error.stage == .validation)
        #expect(
            error.description == "GET http://api.example.com/it failed (unacceptableMediaType): "
                + "the server answered 200 OK with a body of type text/html; charset=utf-8, but application/json was "
                + "requested. Check that the URL is that of an API, not of a web page; if the type is right, name it "
                + "in an Accept header. The body: 1"
        )
    }

    @Test func appliesPerConnectionAndACallOverridesIt() async throws {
        let teapot = ResponseValidation.status(418)
        #expect(try await failure(418, connection: teapot) == nil)
        #expect(try await failure(200, connection: teapot)?.kind == .unacceptableStatus)
        #expect(try await failure(200, connection: teapot, call: .standard) == nil)
        #expect(try await failure(418, connection: .standard, call: teapot) == nil)
        #expect(try await failure(200, connection: .standard, call: teapot)?.kind == .unacceptableStatus)
    }

    @Test func noneAcceptsEverything() async throws {
        #expect(try await failure(500, type: "text/html", call: .unchecked) == nil)
    }

    @Test func andRequiresBothAndReportsTheFirstFailure() async throws {
        let both = ResponseValidation.status(200, 404).and(.mediaType)
        #expect(try await failure(404, call: both) == nil)
        #expect(try await failure(404, type: "text/html", call: both)?.kind == .unacceptableMediaType)
        #expect(try await failure(500, type: "text/html", call: both)?.kind == .unacceptableStatus)
    }

    @Test func orRequiresOneAndReportsTheFirstFailure() async throws {
        let either = ResponseValidation.standard.or(.status(404, 410))
        #expect(try await failure(200, call: either) == nil)
        #expect(try await failure(404, type: "text/html", call: either) == nil)
        let error = try #require(try await failure(500, call: either))
        #expect(error.detail == "the server answered 500 Internal Server Error, and only 200 to 299 are accepted")
        let swapped = try #require(try await failure(500, call: ResponseValidation.status(404, 410).or(.standard)))
        #expect(swapped.detail == "the server answered 500 Internal Server Error, and only 404, 410 are accepted")
    }

    @Test func anOwnCheckSeesResponseAndBody() async throws {
        let check = ResponseValidation { (response, body) throws(ApiConnectorError) in
            guard body == Data("1".utf8), response.status == 200 else { return }
            throw ApiConnectorError(.other, at: .validation, "no ones here", response: response, body: body)
        }
        let error = try #require(try await failure(200, connection: ResponseValidation.standard.and(check)))
        #expect(error.kind == .other)
        #expect(
            error.description
                == "GET http://api.example.com/it failed (other): no ones here. The body: 1"
        )
    }

    @Test(arguments: Wire.allCases)
    func holdsOverEveryTransport(_ wire: Wire) async throws {
        let web = try ScriptedWeb(over: wire) { _ in .text("no such page", status: 404) }
        let error = await #expect(throws: ApiConnectorError.self) {
            _ = try await web.connection().value(Int.self, at: Endpoint("/it"))
        }
        #expect(
            error?.description
                == "GET \(web.shownHome)/it failed (unacceptableStatus): the server answered 404 Not Found, "
                + "and only 200 to 299 are accepted. Check the route's path and method, and the environment. "
                + "The body: no such page"
        )
        let options = CallOptions(validation: .status(404))
        #expect(try await web.connection().data(at: Endpoint("/it"), options: options) == Data("no such page".utf8))
    }
}
