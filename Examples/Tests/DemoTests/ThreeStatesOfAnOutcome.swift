// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Backends
import Foundation
import Synchronization
import Testing

/// How to test a service in each state of its outcome, as in the post on decoupling (seed 003): a spy on what is asked,
/// and canned providers that succeed, report errors and fail.
@Suite struct ThreeStatesOfAnOutcome {
    private let request = OrderRequest(customerId: "c1", itemNumber: "A-1", quantity: 2)
    private let order = Order(orderId: "123", customerId: "c1", itemNumber: "A-1", quantity: 2)

    private func service(_ answer: TestConnectorResponse) -> OrderService<some DataRequestType> {
        OrderService(environment: .sample("orders"), provider: TestConnector { _ in answer })
    }

    /// Keeps what is asked of it.
    private final class Spy: ResponseSource {
        private let seen = Mutex<[ApiRequest]>([])

        var requests: [ApiRequest] { seen.withLock { $0 } }

        func response(for request: ApiRequest) async throws -> TestConnectorResponse {
            seen.withLock { $0.append(request) }
            return .status(503)
        }
    }

    @Test func asksForTheRightThing() async throws {
        let spy = Spy()
        let service = OrderService(environment: .sample("orders"), provider: TestConnector(spy))

        _ = await service.create(request)

        let sent = try #require(spy.requests.first)
        #expect(spy.requests.count == 1)
        #expect(sent.method == .post)
        #expect(sent.url.absoluteString == "http://localhost:80/orders/orders")
        #expect(try JSONDecoder().decode(OrderRequest.self, from: sent.body.data()) == request)
    }

    @Test func succeeds() async throws {
        let service = service(.document(["data": order], status: 201))

        let outcome = await service.create(request)

        #expect(try outcome.get() == order)
    }

    @Test func reportsTheBackendsErrors() async {
        let reasons = [
            JSONAPIError(title: "Invalid", source: .init(pointer: "/itemNumber")),
            JSONAPIError(title: "Invalid", source: .init(pointer: "/customerId")),
        ]
        let service = service(.document(["errors": reasons], status: 422))

        let outcome = await service.create(request)

        guard case .errors(let errors, let head) = outcome else {
            Issue.record("It came to \(outcome)")
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
        let outcome = await service(answer).create(request)

        guard case .failure(let error) = outcome else {
            Issue.record("It came to \(outcome)")
            return
        }
        #expect(error.kind == kind)
    }
}

extension TestConnectorResponse {
    /// JSON of the type that the router asks for; plain JSON would not be accepted.
    fileprivate static func document(_ value: some Encodable, status: HTTPStatus = 200) -> TestConnectorResponse {
        .json(value, status: status, headers: [.contentType: MediaType.jsonAPI.description])
    }
}
