// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting

extension ManualClock {
    /// Runs a call, moves this clock whenever something sleeps, and tells for how long each did.
    ///
    /// - Parameter isMeant: Whether a sleep of a length is one to move the clock for; not that of a limit of time,
    ///   which sleeps beside what it limits.
    func moving<Value: Sendable>(
        of sleep: ManualClock.Sleep? = nil,
        for isMeant: @escaping @Sendable (Duration) -> Bool = { _ in true },
        _ call: @escaping @Sendable () async -> Value
    ) async throws -> (Value, [Duration]) {
        let lengths = EventLog<Duration>()
        let mover = Task {
            while true {
                let length = try await self.nextSleep(of: sleep, within: .seconds(Int64.max))
                guard isMeant(length) else { continue }
                lengths.note(length)
                self.advance(by: length)
            }
        }
        let value = await call()
        mover.cancel()
        return (value, lengths.events)
    }

    /// Moves this clock by some steps, each when something sleeps for as long.
    func step(_ lengths: Duration...) async throws {
        for length in lengths {
            while try await nextSleep() != length {}
            advance(by: length)
        }
    }

    /// Moves this clock whenever something sleeps, until it has done so for a sleep of a length.
    ///
    /// For a limit on silence, which starts over with each part of an answer: the sleep that is seen first may be that
    /// of a part that has arrived meanwhile.
    func move(through length: Duration) async throws {
        var slept = Duration.zero
        while slept != length {
            slept = try await nextSleep()
            advance(by: slept)
        }
    }
}
