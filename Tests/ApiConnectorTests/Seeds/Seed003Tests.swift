// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// "Decoupling": a service that knows nothing of the client below it, and a response with three states.
import ApiConnector
import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

private struct Order: Codable, Equatable {
    let itemNumber: String
    let customerId: String

    static let sample = Order(itemNumber: "17", customerId: "4")
}

private struct Receipt: Codable, Equatable {
    let orderId: String
}

private enum OrderRouter: ApiRouter {
    typealias EnvironmentType = Place
    typealias EnvelopeType = JSONAPIEnvelope<[String: String]>
    case create(Order)

    var path: String { "/orders" }
    var method: HTTPMethod { .post }

    var body: RequestBody {
        switch self {
        case .create(let order): .json(order)
        }
    }
}

private struct OrderService<Provider: DataRequestType>: Sendable {
    let api: NetworkConnector<Provider, OrderRouter>

    init(_ provider: Provider, at place: Place = Place()) {
        api = NetworkConnector(environment: place, provider: provider, configuration: .patient)
    }

    /// The text that a person reads.
    func create(_ order: Order) async -> String {
        switch await api.outcome(Receipt.self, at: .create(order)) {
        case .success(let receipt): "ordered as \(receipt.orderId)"
        case .backendFailure(let errors, _):
            errors.flatMap(\.self).map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        case .failure: "could not reach the shop"
        }
    }
}

/// Records a request's URL and body.
private final class SpyingProvider: DataRequestType {
    private let seen = Locked<[(destination: String, payload: Data)]>([])

    var requests: [(destination: String, payload: Data)] { seen.withLock { $0 } }

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        let payload = try request.body.data()
        seen.withLock { $0.append((request.url.absoluteString, payload)) }
        return ApiResponse(to: request, status: 204)
    }
}

private struct SuccessfulOrders: ResponseProvider {
    func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        .json(["data": ["orderId": "123"]], status: 201)
    }
}

private struct ErroredOrders: ResponseProvider {
    func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        .json(["errors": [["itemNumber": "Invalid"], ["customerId": "Invalid"]]])
    }
}

private struct FailingOrders: ResponseProvider {
    func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        throw ApiConnectorError(.cannotConnect, "Failed to communicate with server")
    }
}

struct Seed003Tests {
    @Test func aSpySeesDestinationAndPayload() async throws {
        let spy = SpyingProvider()
        _ = await OrderService(spy).create(.sample)
        #expect(spy.requests.map(\.destination) == ["http://api.example.com:80/orders"])
        let payload = try #require(spy.requests.first?.payload)
        #expect(try JSONDecoder().decode(Order.self, from: payload) == .sample)
    }

    @Test func cannedProvidersProduceTheThreeStates() async {
        #expect(await OrderService(TestConnector<SuccessfulOrders>()).create(.sample) == "ordered as 123")
        #expect(
            await OrderService(TestConnector<ErroredOrders>()).create(.sample)
                == "itemNumber: Invalid, customerId: Invalid"
        )
        #expect(await OrderService(TestConnector<FailingOrders>()).create(.sample) == "could not reach the shop")
    }

    @Test func aFailureToCommunicateKeepsItsReason() async throws {
        let outcome = await OrderService(TestConnector<FailingOrders>()).api.outcome(Receipt.self, at: .create(.sample))
        let error = try #require(throws: ApiConnectorError.self) { try outcome.get() }
        #expect(
            error.description == "POST http://api.example.com/orders failed (cannotConnect): "
                + "Failed to communicate with server. Check that the server is running, and check the environment's "
                + "host and port."
        )
    }

    @Test(arguments: Wire.allCases)
    func theThreeStatesComeFromARealServerToo(_ wire: Wire) async throws {
        for (text, status, expected) in [
            (#"{"data":{"orderId":"123"}}"#, 201, "ordered as 123"),
            (#"{"errors":[{"itemNumber":"Invalid"}]}"#, 422, "itemNumber: Invalid"),
            (#"{"errors":[{"itemNumber":"Invalid"}]}"#, 200, "itemNumber: Invalid"),
            ("oops", 500, "could not reach the shop"),
        ] {
            let web = try ScriptedWeb(over: wire) { _ in .json(text, status: status) }
            #expect(await OrderService(web.provider, at: web.place).create(.sample) == expected)
            #expect(web.requests.map(\.method) == ["POST"])
        }
    }
}
