// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A transport, and how it delivers the body.
enum HostileTransport: String, Sendable, CaseIterable {
    #if Curl && os(Linux)
    case curlCollected
    case curlStreamed
    #endif
    case urlSession

    /// A provider with its own connections.
    func provider(_ version: HostileFixture.Version) -> AnyProvider {
        switch self {
        case .urlSession: return AnyProvider(URLSessionProvider(configuration: .ephemeral))
        #if Curl && os(Linux)
        case .curlCollected, .curlStreamed:
            var configuration = CurlConfiguration.patient
            configuration.proxy = .none
            if version == .http2 {
                configuration.httpVersion = .http2PriorKnowledge
                configuration.streamsOverHTTP2 = true
            }
            return AnyProvider(CurlProvider(configuration: configuration))
        #endif
        }
    }

    var delivery: ResponseDelivery {
        #if Curl && os(Linux)
        self == .curlStreamed ? .streamed : .standard
        #else
        .standard
        #endif
    }

    /// Makes a call, and reads its body to the end.
    func outcome(of url: URL, over provider: some DataRequestType) async -> HostileFixture.Outcome {
        do throws(ApiConnectorError) {
            let response = try await provider.response(for: ApiRequest(url: url, delivery: delivery))
            let body = try await response.body.collect(upTo: 1 << 20)
            return .response(response.status.rawValue, String(decoding: body, as: UTF8.self))
        } catch {
            return .failure(error.kind)
        }
    }
}
