// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestScopes
import ApiConnectorTesting
import Backends
import Foundation
import Testing

/// How to test a service in each state of its outcome, as in the blog post on decoupling: a spy for the requests, and
/// canned providers that succeed, report errors and fail.
@Suite(.scripted) struct ThreeStatesOfAnOutcome {
    private let request = OrderRequest(customerId: "c1", itemNumber: "A-1", quantity: 2)
    private let order = Order(orderId: "123", customerId: "c1", itemNumber: "A-1", quantity: 2)
    private let script = Script(for: OrderRouter.self, in: .sample("orders"))

    private var service: OrderService<some DataRequestType> {
        OrderService(environment: script.environment, provider: TestConnector(script))
    }

    /// The spy checks the URL and the body of a request.
    @Test func asksForTheRightThing() async throws {
        script.on { _ in true }.answer(.status(503))

        _ = await service.create(request)

        let sent = try #require(script.requests.first)
        #expect(script.requests.count == 1)
        #expect(sent.method == .post)
        #expect(sent.url.absoluteString == "http://localhost:80/orders/orders")
        #expect(try sent.json(as: OrderRequest.self) == request)
    }

    @Test func succeeds() async throws {
        script.on(.create(request)).answer(order, status: 201)

        let outcome = await service.create(request)

        #expect(try outcome.get() == order)
    }

    @Test func reportsTheBackendsErrors() async {
        let reasons = [
            JSONAPIError(title: "Invalid", source: .init(pointer: "/itemNumber")),
            JSONAPIError(title: "Invalid", source: .init(pointer: "/customerId")),
        ]
        script.on(.create(request)).answer(failure: reasons, status: 422)

        let outcome = await service.create(request)

        guard case .backendFailure(let errors, let head) = outcome else {
            Issue.record("unexpected outcome: \(outcome)")
            return
        }
        #expect(errors == reasons)
        #expect(head.status == 422)
    }

    @Test(
        arguments: [
            (.failure(URLError(.cannotConnectToHost)), .cannotConnect),
            (.status(304), .unacceptableStatus),
            (.data(Data("<html>".utf8), status: 500, headers: ["Content-Type": "text/html"]), .unacceptableStatus),
            (.data(Data("<html>".utf8), headers: ["Content-Type": "text/html"]), .unacceptableMediaType),
            (.json(["data": ["orderId": "123"]]), .decodingFailed),
        ] as [(TestConnectorResponse, ApiConnectorError.Kind)]
    )
    func failsToCommunicate(answer: TestConnectorResponse, kind: ApiConnectorError.Kind) async {
        script.on(.create(request)).answer(answer)

        let outcome = await service.create(request)

        guard case .failure(let error) = outcome else {
            Issue.record("unexpected outcome: \(outcome)")
            return
        }
        #expect(error.kind == kind)
    }
}
