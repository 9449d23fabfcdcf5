// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A provider that reports the events of each request to an observer; made by
/// ``DataRequestType/observing(by:timeSource:random:)``.
struct Observed<Wrapped: DataRequestType, Observer: CallObserver>: DataRequestType {
    private let wrapped: Wrapped
    private let observer: Observer
    private let timeSource: (any TimeSource)?
    private let random: @Sendable () -> UInt64

    init(
        _ wrapped: Wrapped,
        by observer: Observer,
        timeSource: (any TimeSource)?,
        random: @escaping @Sendable () -> UInt64
    ) {
        self.wrapped = wrapped
        self.observer = observer
        self.timeSource = timeSource
        self.random = random
    }

    /// Sends the request with the wrapped provider, and reports the events if the observer is listening.
    ///
    /// - Throws: The error of the wrapped provider.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        guard observer.isListening else { return try await wrapped.response(for: request) }
        var request = request
        request.beginCall()
        let timeSource = timeSource ?? request.timeSource
        let events = CallEvents(request, observer: observer, timeSource: timeSource, random: random)
        request.reportEvents(to: events)
        do throws(ApiConnectorError) {
            var response = try await wrapped.response(for: request)
            events.head(of: response)
            let reading = ObservedReading(of: response, events)
            response.body = try response.body.transformed { chunk in
                reading.receive(chunk)
                return chunk
            } onEnd: { end in
                reading.end(end)
            }
            return response
        } catch {
            events.finish(.failed(error), error.timesRecord)
            throw error
        }
    }
}

/// Reports how the body of a response is read.
///
/// It is a class, so that the body's closures share one copy of the request.
private final class ObservedReading: Sendable {
    private let status: HTTPStatus
    private let request: ApiRequest
    private let record: TransportTimesRecord?
    private let events: CallEvents

    init(of response: ApiResponse, _ events: CallEvents) {
        status = response.status
        request = response.request
        record = response.timesRecord
        self.events = events
    }

    func receive(_ chunk: Data) {
        events.bytes(chunk.count, of: request)
    }

    func end(_ end: ResponseBody.End) {
        switch end {
        case .finished: events.finish(.answered(status), of: request, record)
        case .failed(let error): events.finish(.failed(error), of: request, error.timesRecord ?? record)
        case .discarded: events.finish(.left(status), of: request, record)
        }
    }
}

extension DataRequestType {
    /// Returns a provider that reports the events of each request to an observer.
    ///
    /// Outside a retrying provider, an observer sees one call with its attempts and decisions. Inside, it sees each
    /// attempt separately. Each hop of a redirect is a separate request with the same ``CallEvent/call``. For several
    /// observers, use several wrappers.
    ///
    /// - Parameters:
    ///   - observer: Receives the events.
    ///   - timeSource: The source of the events' times; the connection's by default.
    ///   - random: Returns 64 random bits; uses the system's generator by default.
    public func observing<Observer: CallObserver>(
        by observer: Observer,
        timeSource: (any TimeSource)? = nil,
        random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) }
    ) -> some DataRequestType {
        Observed(self, by: observer, timeSource: timeSource, random: random)
    }
}
