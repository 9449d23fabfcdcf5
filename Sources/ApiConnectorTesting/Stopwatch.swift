// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Measures one canned exchange on a test's clock: the wait for the head, and the body.
struct Stopwatch: Sendable {
    private let timeSource: any TimeSource
    private let start: Duration

    /// Returns nil for the machine's clock.
    ///
    /// On that clock, the time of a canned response means nothing. The clock is also expensive to read.
    init?(_ timeSource: any TimeSource) {
        guard type(of: timeSource) != SystemTimeSource.self else { return nil }
        self.timeSource = timeSource
        start = timeSource.now
    }

    /// Sets the timing of a response.
    ///
    /// A streamed body is measured until its end.
    func time(_ response: inout ApiResponse) {
        let record = TransportTimesRecord()
        let head = timeSource.now
        record.update { times in
            times[.responseWait] = head - start
            times[.receiving] = .zero
        }
        response.timesRecord = record
        if let body = response.body.collected {
            return record.update { $0.decodedBodyByteCount = Int64(body.count) }
        }
        guard
            let body = try? response.body.transformed(
                { $0 },
                onEnd: { [timeSource] _ in
                    let end = timeSource.now
                    record.update { $0[.receiving] = end - head }
                }
            )
        else { return }
        response.body = body
    }

    /// Sets the timing of a failure.
    func timed(_ error: ApiConnectorError) -> ApiConnectorError {
        guard error.timesRecord == nil else { return error }
        var error = error
        let record = TransportTimesRecord()
        record.update { $0[.responseWait] = timeSource.now - start }
        error.timesRecord = record
        return error
    }
}
