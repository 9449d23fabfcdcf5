// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

enum HandlingErrors {
    struct Basket: ApiModel {
        let items: [String]
    }

    struct Refusal: ApiModel, Equatable {
        let reason: String
    }

    enum Shop: ApiRouter {
        typealias EnvironmentType = Server
        typealias EnvelopeType = BareEnvelope<Refusal>
        case basket

        var path: ApiPath { "/basket" }
    }

    enum StatusEnvelope: ApiEnvelope {
        struct Failure: ApiModel {
            let reason: String
        }

        private struct Success<Value: Decodable>: Decodable {
            let result: Value
        }

        static func open<Value: Decodable>(
            _ type: Value.Type,
            from body: Data,
            with decoder: JSONDecoder
        ) throws -> EnvelopeContent<Value, Failure> {
            if let failure = failure(in: body, with: decoder) { return .failure(failure) }
            return .value(try decoder.decode(Success<Value>.self, from: body).result)
        }

        static func failure(in body: Data, with decoder: JSONDecoder) -> Failure? {
            try? decoder.decode(Failure.self, from: body)
        }
    }

    static func asks(
        _ api: NetworkConnector<SystemProvider, Blog>,
        _ shop: NetworkConnector<SystemProvider, Shop>
    ) async {
        do {
            show(try await api.value([Article].self, at: .articles(for: .now)))
        } catch {
            switch error.kind {
            case .cancelled: break
            case .nameNotResolved, .cannotConnect, .connectionLost, .timedOut, .stalled: show("Check your connection.")
            case .unacceptableStatus where error.response?.status == 401: signIn()
            default: show(error.description)
            }
        }
        let loading = Task {
            do throws(ApiConnectorError) {
                show(try await api.value([Article].self, at: .articles(for: .now)))
            } catch {
                show(error.localizedDescription)
            }
        }
        let load = { () async throws(ApiConnectorError) -> [Article] in
            try await api.value(at: .articles(for: .now))
        }
        _ = (loading, load)
        do {
            try await shop.send(at: .basket)
        } catch {
            if let refusal = error.failure(as: Refusal.self) { show(refusal.reason) }
        }
        switch await shop.outcome(Basket.self, at: .basket) {
        case .success(let basket): show(basket.items)
        case .backendFailure(let refusal, let head): show("\(refusal.reason) (\(head.status))")
        case .failure(let error): show(error.description)
        }
    }

    static func tells(_ error: ApiConnectorError) {
        if let problem = error.problem { show(problem.title ?? problem.type) }
    }

    static func validations() {
        let orMissing = CallOptions(validation: .standard.or(.status(404)))
        let anything = CallOptions(validation: .unchecked)
        let signed = ResponseValidation.standard.and(
            ResponseValidation { (response, body) throws(ApiConnectorError) in
                guard response.headers.contains("X-Signature") else {
                    throw ApiConnectorError(.other, "the response is not signed", response: response, body: body)
                }
            }
        )
        _ = (orMissing, anything, signed)
    }

    private static func show(_ what: Any) { print(what) }
    private static func signIn() {}
}
