// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import FlyingFox
import Foundation
import Synchronization

/// The orders of the blog post on decoupling.
///
/// A refusal is a list of JSON:API error objects, one for each reason.
final class OrdersBackend: Backend {
    private struct Request: Decodable {
        let customerId: String
        let itemNumber: String
        let quantity: Int
    }

    private struct Order: Encodable {
        let orderId: String
        let customerId: String
        let itemNumber: String
        let quantity: Int
    }

    private struct Problem: Encodable {
        let status: String
        let title: String
        let source: [String: String]?
    }

    private let orders = Mutex<[Order]>([])

    func answer(_ call: Call) async throws -> HTTPResponse {
        switch (call.method, Array(call.path)) {
        case ("POST", ["orders"]):
            let request = try call.json(Request.self)
            let problems = problems(with: request)
            guard problems.isEmpty else { return try document(["errors": problems], .unprocessableContent) }
            let order = take(request)
            return try document(["data": order], .created, headers: [.location: "/orders/orders/\(order.orderId)"])
        case ("GET", ["orders", "latest"]):
            guard let order = orders.withLock({ $0.last }) else { return try missing("There is no order yet") }
            return HTTPResponse(statusCode: .seeOther, headers: HTTPHeaders([.location: order.orderId]))
        case ("GET", let path) where path.count == 2 && path[0] == "orders":
            guard let order = orders.withLock({ $0.first { $0.orderId == path[1] } }) else {
                return try missing("There is no order \(path[1])")
            }
            return try document(["data": order])
        default:
            return try missing("There is no such endpoint")
        }
    }

    private func take(_ request: Request) -> Order {
        orders.withLock { orders in
            let order = Order(
                orderId: String(123 + orders.count),
                customerId: request.customerId,
                itemNumber: request.itemNumber,
                quantity: request.quantity
            )
            orders.append(order)
            return order
        }
    }

    private func problems(with request: Request) -> [Problem] {
        var problems: [Problem] = []
        if !request.itemNumber.hasPrefix("A-") { problems.append(invalid("itemNumber")) }
        if request.customerId.isEmpty { problems.append(invalid("customerId")) }
        if request.quantity < 1 { problems.append(invalid("quantity")) }
        return problems
    }

    private func invalid(_ name: String) -> Problem {
        Problem(status: "422", title: "Invalid", source: ["pointer": "/\(name)"])
    }

    private func missing(_ title: String) throws -> HTTPResponse {
        try document(["errors": [Problem(status: "404", title: title, source: nil)]], .notFound)
    }

    private func document(
        _ value: some Encodable,
        _ status: HTTPStatusCode = .ok,
        headers: HTTPHeaders = [:]
    ) throws -> HTTPResponse {
        var response = try HTTPResponse.json(value, status, headers: headers)
        response.headers[.contentType] = "application/vnd.api+json"
        return response
    }
}
