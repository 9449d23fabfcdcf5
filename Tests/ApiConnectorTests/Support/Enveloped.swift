// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// A router with one endpoint, of a backend with any envelope.
struct Enveloped<EnvelopeType: ApiEnvelope>: ApiRouter {
    typealias EnvironmentType = Place

    var path = "/it"
    var method = HTTPMethod.get
    var body = RequestBody.empty
}

/// The model that the backends of these tests return.
struct Item: Codable, Equatable {
    let id: Int
}

typealias CannedConnection<Envelope: ApiEnvelope> =
    NetworkConnector<TestConnector<ClosureResponses>, Enveloped<Envelope>>

extension NetworkConnector where Router.EnvironmentType == Place, Provider == TestConnector<ClosureResponses> {
    /// A connection whose every answer is this text.
    init<Envelope: ApiEnvelope>(
        _ envelope: Envelope.Type,
        answering text: String,
        status: HTTPStatus = 200,
        type: String? = "application/json"
    ) where Router == Enveloped<Envelope> {
        let headers: HTTPHeaders = type.map { ["Content-Type": $0] } ?? HTTPHeaders()
        self.init(
            environment: Place(),
            provider: TestConnector { _ in .data(Data(text.utf8), status: status, headers: headers) }
        )
    }
}

/// The error of a call that fails.
func failure<Value>(
    _ call: () async throws(ApiConnectorError) -> Value
) async throws -> ApiConnectorError {
    do {
        let value = try await call()
        throw UnexpectedSuccess(description: "a failure was expected, and this came: \(value)")
    } catch let error as ApiConnectorError {
        return error
    }
}

struct UnexpectedSuccess: Error, CustomStringConvertible {
    let description: String
}
