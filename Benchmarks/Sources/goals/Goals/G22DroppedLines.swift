// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import LogAdapter
import Logging
import MicroCases

/// The logging adapter around the standard composition, with a logger that drops each line.
///
/// - At level critical, no call can have a line. The call is compared with one without an observer.
/// - At level error, only a failed call has a line. A call that succeeds is compared with one whose observer does
///   nothing, because the logger cannot know before the end that the line will be dropped.
struct G22DroppedLines: Goal {
    let number = "G22"
    let title = "a logger that drops each line"

    func measure(on bench: Bench) async throws -> Outcome {
        let bare = InstantProvider()
        let none = bare.standard()
        let inattentive = bare.standard(observedBy: Inattentive())
        let critical = bare.standard(observedBy: LoggedCalls(Self.logger(.critical)))
        let error = bare.standard(observedBy: LoggedCalls(Self.logger(.error)))
        let request = ApiRequest(
            url: URL(string: "http://127.0.0.1/small?page=2") ?? URL(filePath: ""),
            headers: ["Accept": "application/json", "User-Agent": "goals"]
        )
        let count = bench.isQuick ? 50_000 : 200_000
        var contest = Contest()
        contest.add("none") {
            try await Rate.microseconds(count: count) { keep(try await none.response(for: request)) }
        }
        contest.add("inattentive") {
            try await Rate.microseconds(count: count) { keep(try await inattentive.response(for: request)) }
        }
        contest.add("critical") {
            try await Rate.microseconds(count: count) { keep(try await critical.response(for: request)) }
        }
        contest.add("error") {
            try await Rate.microseconds(count: count) { keep(try await error.response(for: request)) }
        }
        let samples = try await contest.run(rounds: bench.rounds)

        var outcome = Outcome(goal: number, title: title)
        outcome.add(Figure("without an observer", samples.median("none"), .microseconds))
        outcome.add(Figure("with an observer that does nothing", samples.median("inattentive"), .microseconds))
        outcome.add(
            Check("at level critical", samples.difference("critical", from: "none"), atMost: 1, .microseconds),
            Check("at level error", samples.difference("error", from: "inattentive"), atMost: 1, .microseconds)
        )
        return outcome
    }

    private static func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "goals") { _ in Unwritten() }
        logger.logLevel = level
        return logger
    }
}

/// A log handler that ends the process if a line reaches it.
private struct Unwritten: LogHandler {
    var logLevel = Logger.Level.info
    var metadata = Logger.Metadata()

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { fatalError("a line was written: \(event.message)") }
}
