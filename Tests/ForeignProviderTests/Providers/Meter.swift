// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Foundation
import Synchronization

/// Measures what each request to a host cost, and reports it to the call's observers.
struct Meter<Wrapped: DataRequestType>: DataRequestType {
    let wrapped: Wrapped
    let figures: Figures

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        let (start, timeSource) = (request.timeSource.now, request.timeSource)
        do throws(ApiConnectorError) {
            var response = try await wrapped.response(for: request)
            let byteCount = Counter()
            response.body = try response.body.transformed { chunk in
                byteCount.add(chunk.count)
                return chunk
            } onEnd: { end in
                let elapsed = timeSource.now - start
                figures.add(byteCount.value, elapsed, end, to: HTTPOrigin(request.url))
                request.report(
                    .custom("metered", details: ["bytes": "\(byteCount.value)", "time": "\(elapsed)"])
                )
            }
            return response
        } catch {
            figures.add(0, timeSource.now - start, .failed(error), to: HTTPOrigin(request.url))
            throw error
        }
    }
}

/// The cost of the requests to each host.
final class Figures: Sendable {
    private let lines = Mutex<[String]>([])

    /// Each change.
    let changes = Arrivals()

    var all: [String] { lines.withLock { $0 } }

    func add(_ byteCount: Int, _ elapsed: Duration, _ end: ResponseBody.End, to origin: HTTPOrigin?) {
        let text =
            switch end {
            case .finished: "finished"
            case .failed(let error): error.kind.rawValue
            case .discarded: "discarded"
            }
        let line = "\(origin.map { "\($0)" } ?? "-") \(byteCount) bytes in \(elapsed): \(text)"
        lines.withLock { $0.append(line) }
        changes.note()
    }
}

private final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func add(_ number: Int) { count.withLock { $0 += number } }
}

/// Records the texts of its events.
final class EventList: CallObserver {
    private let events = Mutex<[CallEvent]>([])

    /// The decisions, in order.
    var decisions: [String] {
        events.withLock { $0.filter(\.kind.isDecision).map(\.kind.description) }
    }

    /// How each call ended.
    var outcomes: [String] {
        events.withLock { events in
            events.compactMap {
                if case .finished(let totals) = $0.kind { totals.outcome.label } else { nil }
            }
        }
    }

    func handle(_ event: CallEvent) { events.withLock { $0.append(event) } }
}
