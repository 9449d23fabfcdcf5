// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Foundation
import Testing

struct HeaderPrecedenceTests {
    @Test func callOverridesConnectionRouteAndEnvironment() async throws {
        let seen = EventLog<[String?]>()
        let names: [HTTPHeaders.Name] = ["X-1", "X-2", "X-3", "X-4"]
        let api = NetworkConnector(
            environment: Place(defaultHeaders: ["X-1": "place", "X-2": "place", "X-3": "place", "X-4": "place"]),
            provider: TestConnector { request in
                seen.note(names.map { request.headers[$0] })
                return .status(204)
            },
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(headers: ["X-3": "connection", "X-4": "connection"])
        )
        let route = Endpoint<ApiPath>(path: "/a", headers: ["X-2": "route", "X-3": "route", "X-4": "route"])
        try await api.send(at: route, options: CallOptions(headers: ["X-4": "call"]))
        #expect(seen.events == [["place", "route", "connection", "call"]])
    }

    /// Sends a POST with a JSON body from places that set header fields, and returns what the transport gets.
    private func sent(
        _ name: HTTPHeaders.Name,
        environment: String? = nil,
        route: String? = nil,
        connection: String? = nil,
        call: String? = nil
    ) async throws -> [String?] {
        func fields(_ value: String?) -> HTTPHeaders { value.map { [name: $0] } ?? HTTPHeaders() }
        let seen = EventLog<[String?]>()
        let api = NetworkConnector(
            environment: Place(defaultHeaders: fields(environment)),
            provider: TestConnector { request in
                seen.note(request.headers.values(name))
                return .json(1)
            }
            .addingHeaders([name: "added"]),
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(headers: fields(connection))
        )
        let route = Endpoint<ApiPath>(path: "/a", method: .post, headers: fields(route), body: .json([1]))
        _ = try await api.value(Int.self, at: route, options: CallOptions(headers: fields(call)))
        return try #require(seen.events.first)
    }

    @Test func acceptIsTheCallsOwnOnlyIfNoPlaceSetsIt() async throws {
        let one = "application/json;q=0.1"
        #expect(try await sent(.accept) == ["application/json"])
        #expect(try await sent(.accept, environment: one) == [one])
        #expect(try await sent(.accept, route: one) == [one])
        #expect(try await sent(.accept, connection: one) == [one])
        #expect(try await sent(.accept, call: one) == [one])
    }

    @Test func theBodysContentTypeComesAfterTheDefaultsAndBeforeTheRouteAndTheCall() async throws {
        #expect(try await sent(.contentType, environment: "a/e") == ["application/json"])
        #expect(try await sent(.contentType, connection: "a/c") == ["application/json"])
        #expect(try await sent(.contentType, route: "a/r") == ["a/r"])
        #expect(try await sent(.contentType, call: "a/o") == ["a/o"])
    }

    @Test func aWrapperThatAddsFieldsComesBeforeAllPlaces() async throws {
        #expect(try await sent("X-1") == ["added"])
        #expect(try await sent("X-1", environment: "environment") == ["environment"])
    }

    @Test func wrappersChangeFieldsAfterAllPlacesAndTheInnermostLast() async throws {
        let seen = EventLog<[String?]>()
        let transport = TestConnector { request in
            seen.note([request.headers["X-1"], request.headers["X-2"]])
            return .status(204)
        }
        let provider =
            transport
            .rewriting { $0.headers["X-2"] = "inner" }
            .rewriting {
                $0.headers["X-1"] = "outer"
                $0.headers["X-2"] = "outer"
            }
        let api = NetworkConnector(environment: Place(), provider: provider, router: Endpoint<ApiPath>.self)
        try await api.send(at: Endpoint("/a"), options: CallOptions(headers: ["X-1": "call", "X-2": "call"]))
        #expect(seen.events == [["outer", "inner"]])
    }

    private static let policy = RetryPolicy(initialDelay: .zero, maximumDelay: .zero)

    /// Reads a stream whose first response breaks off, and returns what the transport gets.
    private func sent<Element>(
        _ names: [HTTPHeaders.Name],
        call: HTTPHeaders,
        reading format: StreamFormat<Element>,
        from first: TestConnectorResponse,
        then second: TestConnectorResponse
    ) async throws -> [[String?]] {
        let seen = EventLog<[String?]>()
        let api = NetworkConnector(
            environment: Place(),
            provider: TestConnector { request in
                seen.note(names.map { request.headers[$0] })
                return seen.events.count == 1 ? first : second
            },
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: ManualClock())
        )
        let stream = api.stream(
            of: Element.self,
            at: Endpoint("/a"),
            as: format.resuming(Self.policy),
            options: CallOptions(headers: call)
        )
        for try await _ in stream {}
        return seen.events
    }

    @Test func theIDOfTheLastEventReplacesThatOfTheCall() async throws {
        let events = TestConnectorResponse.chunks(
            [Data("id: 7\ndata: a\n\n".utf8)],
            headers: ["Content-Type": "text/event-stream"]
        )
        let lost = ApiConnectorError(.connectionLost, "it broke")
        let sent = try await sent(
            ["Last-Event-ID"],
            call: ["Last-Event-ID": "5"],
            reading: StreamFormat<ServerSentEvent>.events,
            from: events.failing(.afterByteCount(15), with: lost),
            then: .status(204)
        )
        #expect(sent == [["5"], ["7"]])
    }

    @Test(arguments: [nil, "gzip"])
    func theRestOfABodyIsAskedForWithTheCallsOwnCoding(_ coding: String?) async throws {
        let first = TestConnectorResponse.chunks([Data("1\n2\n".utf8)], headers: ["ETag": "\"1\""])
        let lost = ApiConnectorError(.connectionLost, "it broke")
        var call: HTTPHeaders = [.ifRange: "\"0\""]
        call[.acceptEncoding] = coding
        let sent = try await sent(
            [.acceptEncoding, .range, .ifRange],
            call: call,
            reading: StreamFormat<Int>.jsonLines,
            from: first.failing(.afterByteCount(2), with: lost),
            then: .chunks(
                [Data("2\n".utf8)],
                status: 206,
                headers: ["Content-Range": "bytes 2-3/4", "ETag": "\"1\""]
            )
        )
        let expected = coding ?? "identity"
        #expect(sent == [[expected, nil, "\"0\""], [expected, "bytes=2-", "\"1\""]])
    }
}
