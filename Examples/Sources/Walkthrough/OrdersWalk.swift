// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
package import Backends

extension Walk {
    /// Walks through the orders of the blog post on decoupling: one outcome for each of the three states.
    package func orders(_ environment: BackendEnvironment, over provider: some DataRequestType) async {
        let provider = JournalingProvider(provider, journal: journal)
        let orders = OrderService(environment: environment, provider: provider)
        begin("The orders", at: environment)

        await step {
            await orders.create(OrderRequest(customerId: "c1", itemNumber: "A-1", quantity: 2))
        } check: { outcome in
            guard case .success(let order) = outcome else { throw Unexpected(of: outcome) }
            try expect(order.itemNumber, is: "A-1", "the item")
            return "success: order \(order.orderId)"
        }
        await step {
            await orders.create(OrderRequest(customerId: "", itemNumber: "B-1", quantity: 1))
        } check: { outcome in
            guard case .backendFailure(let reasons, let head) = outcome else { throw Unexpected(of: outcome) }
            try expect(head.status, is: 422, "the status")
            let places = reasons.compactMap(\.source?.pointer)
            try expect(places, is: ["/itemNumber", "/customerId"], "the invalid members")
            return "errors: \(places.joined(separator: " and ")) are invalid"
        }
        await step {
            await orders.order(id: "7")
        } check: { outcome in
            guard case .backendFailure(let reasons, _) = outcome else { throw Unexpected(of: outcome) }
            try expect(reasons.map(\.status), is: ["404"], "the status in the error")
            return "errors: \(reasons.compactMap(\.title).joined(separator: ", "))"
        }
        await step {
            await orders.latest()
        } check: { outcome in
            guard case .success(let order) = outcome else { throw Unexpected(of: outcome) }
            return "success: a redirect led to order \(order.orderId)"
        }
        await failure(.unacceptableStatus, "the call does not follow redirects") {
            await orders.latest(redirects: .never)
        }
        await failure(.cannotConnect, "no server is listening") {
            await OrderService(environment: .nowhere, provider: provider).order(id: "123")
        }
    }

    /// One step that should fail with an error of one kind.
    ///
    /// Shows the error's text.
    private func failure<Value, Failure>(
        _ kind: ApiConnectorError.Kind,
        _ reason: String,
        _ call: () async -> ApiOutcome<Value, Failure>
    ) async {
        await step {
            await call()
        } check: { outcome in
            guard case .failure(let error) = outcome else { throw Unexpected(of: outcome) }
            try expect(error.kind, is: kind, "the kind of error")
            return "failure: \(reason); the error:"
        } note: { outcome in
            if case .failure(let error) = outcome { error.description } else { nil }
        }
    }
}
