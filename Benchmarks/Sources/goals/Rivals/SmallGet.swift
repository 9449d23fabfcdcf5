// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import AsyncHTTPClient
import MicroCases
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// The model of the small body.
struct SmallValue: Decodable, Sendable, Equatable {
    let id: Int
    let title: String

    static let expected = SmallValue(id: 42, title: "Forty-six bytes, no more..")
}

/// One way to get the small body, decoded.
protocol SmallGet: Sendable {
    func value() async throws -> SmallValue
}

extension SmallGet {
    /// Checks that the call works before the measurement.
    func check() async throws {
        let value = try await value()
        guard value == .expected else { throw WrongFixture(description: "\(Self.self) got \(value)") }
    }
}

/// This library, over any provider.
struct ConnectorGet<Provider: DataRequestType>: SmallGet {
    private let api: NetworkConnector<Provider, SmallRouter>

    init(_ provider: Provider, scheme: HTTPScheme = .http, port: Int) {
        api = NetworkConnector(environment: SmallEnvironment(scheme: scheme, port: port), provider: provider)
    }

    func value() async throws -> SmallValue {
        try await api.value(at: .small)
    }
}

enum SmallRouter: String, ApiRouter {
    typealias EnvironmentType = SmallEnvironment
    case small = "/small"
}

struct SmallEnvironment: ApiEnvironment {
    let scheme: HTTPScheme
    let port: Int?
    var host: String { "127.0.0.1" }

    init(scheme: HTTPScheme, port: Int) {
        self.scheme = scheme
        self.port = port
    }
}

/// URLSession by hand.
struct URLSessionGet: SmallGet {
    let session: URLSession
    let url: URL
    private let decoder = JSONDecoder()

    init(session: URLSession, url: URL) {
        self.session = session
        self.url = url
    }

    func value() async throws -> SmallValue {
        let (data, response) = try await session.data(for: URLRequest(url: url))
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
        return try decoder.decode(SmallValue.self, from: data)
    }
}

/// async-http-client by hand.
struct AsyncHTTPClientGet: SmallGet {
    let client: HTTPClient
    let url: String
    private let decoder = JSONDecoder()

    init(client: HTTPClient = .shared, url: URL) {
        self.client = client
        self.url = url.absoluteString
    }

    func value() async throws -> SmallValue {
        let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(60))
        guard response.status == .ok else { throw URLError(.badServerResponse) }
        let body = try await response.body.collect(upTo: 1 << 20)
        return try decoder.decode(SmallValue.self, from: body)
    }
}
