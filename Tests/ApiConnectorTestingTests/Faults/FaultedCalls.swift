// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

extension FaultRun {
    /// A connection on the run's clock.
    func shop(
        over provider: some DataRequestType,
        timeouts: Timeouts = Timeouts()
    ) -> NetworkConnector<AnyProvider, Shop> {
        NetworkConnector(
            environment: .test,
            provider: AnyProvider(provider),
            configuration: ConnectionConfiguration(timeouts: timeouts, timeSource: timeSource)
        )
    }

    /// Whether retries cannot fix the fault: bytes that are not HTTP, or not JSON.
    var isFinal: Bool {
        switch fault?.effect {
        case .malformed, .garbage: true
        default: false
        }
    }
}

extension ApiConnectorError {
    /// The kind of what a closure throws; nil for nothing.
    static func kind(of body: () async throws(ApiConnectorError) -> Void) async -> Kind? {
        do throws(ApiConnectorError) {
            try await body()
            return nil
        } catch {
            return error.kind
        }
    }
}

/// Counts an observer's events.
final class EventCounts: CallObserver {
    private let counts = Locked((started: 0, finished: 0))

    func handle(_ event: CallEvent) {
        switch event.kind {
        case .started: counts.withLock { $0.started += 1 }
        case .finished: counts.withLock { $0.finished += 1 }
        default: break
        }
    }

    func expectPairs(_ run: FaultRun) {
        let counts = counts.withLock { $0 }
        #expect(counts.started == counts.finished, "\(run)")
    }
}

extension TestConnectorResponse {
    /// The response of a server that supports ranges.
    static func ranged(_ content: Data, to request: ApiRequest) -> TestConnectorResponse {
        let start = request.headers[.range].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
        var headers: HTTPHeaders = [.etag: "\"v1\""]
        guard let start, request.headers[.ifRange] == "\"v1\"" else {
            headers[.contentLength] = "\(content.count)"
            return .data(content, headers: headers).chunked(byteCount: 10)
        }
        if start >= content.count { return .status(416, headers: ["Content-Range": "bytes */\(content.count)"]) }
        headers[.contentRange] = "bytes \(start)-\(content.count - 1)/\(content.count)"
        headers[.contentLength] = "\(content.count - start)"
        return .data(content.dropFirst(start), status: 206, headers: headers).chunked(byteCount: 10)
    }
}
