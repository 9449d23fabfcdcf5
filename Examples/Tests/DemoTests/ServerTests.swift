// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Backends
import DemoServer
import Foundation
import Testing

/// Tests of the embedded server's responses, byte for byte.
struct ServerTests {
    /// The response to a route, from the transport, which neither validates nor unwraps the response.
    private func answer<Router: ApiRouter>(
        to routes: Router...,
        on environment: @Sendable (ServerLocation) -> BackendEnvironment
    ) async throws -> [String] where Router.EnvironmentType == BackendEnvironment {
        try await DemoServer.run { url in
            let api = NetworkConnector<SystemProvider, Router>(
                environment: environment(try #require(ServerLocation(url)))
            )
            var answers: [String] = []
            for route in routes {
                let response = try await api.provider.response(for: api.request(at: route))
                let body = try await response.body.collect(upTo: 4096)
                answers.append("\(response.status.rawValue) \(String(decoding: body, as: UTF8.self))")
            }
            return answers
        }
    }

    @Test func putsUsersIntoAnEnvelope() async throws {
        let grace = User(userId: "42", name: "Grace", email: "grace@example.com")
        let answers = try await answer(
            to: UserRouter.userInfo(id: "42"),
            .updateUserInfo(grace),
            .userInfo(id: "42"),
            on: BackendEnvironment.users
        )
        #expect(
            answers == [
                #"200 {"data":{"description":"Counts","email":"ada@example.com","name":"Ada","userId":"42"}}"#,
                #"200 {"data":{"email":"grace@example.com","name":"Grace","userId":"42"}}"#,
                #"200 {"data":{"email":"grace@example.com","name":"Grace","userId":"42"}}"#,
            ]
        )
    }

    @Test func answersAnErrorInA200() async throws {
        let answers = try await answer(
            to: UserRouter.userInfo(id: "7"),
            .updateUserInfo(User(userId: "42", name: "Ada", email: "nowhere")),
            on: BackendEnvironment.users
        )
        #expect(
            answers == [
                #"200 {"error":{"code":1001,"message":"There is no user 7."}}"#,
                #"200 {"error":{"code":1003,"message":"“nowhere” is not an e-mail address."}}"#,
            ]
        )
    }

    @Test func listsEveryReasonToRefuseAnOrder() async throws {
        let answers = try await answer(
            to: OrderRouter.create(OrderRequest(customerId: "", itemNumber: "B-1", quantity: 1)),
            .create(OrderRequest(customerId: "c1", itemNumber: "A-1", quantity: 2)),
            .order(id: "123"),
            .latest,
            .order(id: "7"),
            on: BackendEnvironment.orders
        )
        let order = #"{"data":{"customerId":"c1","itemNumber":"A-1","orderId":"123","quantity":2}}"#
        #expect(
            answers == [
                #"422 {"errors":[{"source":{"pointer":"/itemNumber"},"status":"422","title":"Invalid"},"#
                    + #"{"source":{"pointer":"/customerId"},"status":"422","title":"Invalid"}]}"#,
                "201 \(order)",
                "200 \(order)",
                "303 ",
                #"404 {"errors":[{"status":"404","title":"There is no order 7"}]}"#,
            ]
        )
    }

    @Test func saysSoWhenItsPortIsTaken() async throws {
        try await DemoServer.run { url in
            let port = try #require(url.port.flatMap { UInt16(exactly: $0) })
            await #expect(throws: (any Error).self) {
                try await DemoServer.run(port: port) { _ in Issue.record("The server runs on a port that is in use.") }
            }
        }
    }
}
