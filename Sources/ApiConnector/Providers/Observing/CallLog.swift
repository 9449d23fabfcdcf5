// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Writes one log line per call, with secrets replaced.
///
/// ```swift
/// let log = CallLog { level, line in lines.add("\(level): \(line)") }
/// let provider = SystemProvider().observing(by: log)
/// ```
///
/// ```text
/// info: GET https://api.example.com:443/me 200 OK, 5 bytes in 12.3 ms (me, call 4bf92f3577b34da6a3ce929d0e0e4736)
/// ```
///
/// Redirects and the decisions of inner providers (a retry, a refresh, a wait for a limit, a cached response) are
/// written at level `debug`. The closure must not block. If it would block, use ``CallObserver/buffered(eventCount:)``.
public struct CallLog: CallObserver {
    /// The importance of a line.
    public enum Level: Int, Sendable, Comparable, CaseIterable, CustomStringConvertible {
        /// A decision during the call.
        case debug
        /// A call with a status below 400, or one that was abandoned or canceled.
        case info
        /// A call with a status from 400 to 499.
        case warning
        /// A call with a status of 500 or above, or without a response.
        case error

        /// Compares levels in the order of their declaration.
        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

        /// The name of the level.
        public var description: String {
            switch self {
            case .debug: "debug"
            case .info: "info"
            case .warning: "warning"
            case .error: "error"
            }
        }
    }

    private let level: Level
    private let redactor: Redactor
    private let write: @Sendable (Level, String) -> Void

    /// Makes a log.
    ///
    /// - Parameters:
    ///   - level: The lowest level that is written; ``Level/info`` by default.
    ///   - redactor: Replaces secrets; ``Redactor/standard`` by default.
    ///   - write: Writes a line.
    public init(
        from level: Level = .info,
        redacting redactor: Redactor = .standard,
        to write: @escaping @Sendable (Level, String) -> Void
    ) {
        self.level = level
        self.redactor = redactor
        self.write = write
    }

    /// Writes a line for the event if it is a decision or the end of a call.
    public func handle(_ event: CallEvent) {
        switch event.kind {
        case .finished(let totals):
            let eventLevel = Level(totals.outcome)
            if eventLevel >= level { write(eventLevel, line(of: event, totals)) }
        case _ where event.kind.isDecision:
            if level == .debug { write(.debug, line(of: event, event.kind.description)) }
        default:
            break
        }
    }

    private func line(of event: CallEvent, _ totals: CallTotals) -> String {
        var text =
            switch totals.outcome {
            case .answered(let status): "\(status), \(totals.byteCount) bytes"
            case .left(let status): "\(status), left after \(totals.byteCount) bytes"
            case .failed(let error): "failed (\(error.kind)): \(error.detail)"
            }
        text += "\(totals.source) in \(Self.milliseconds(totals.elapsed))"
        if totals.attemptCount > 1 { text += " and \(totals.attemptCount) attempts" }
        return line(of: event, text)
    }

    private func line(of event: CallEvent, _ text: String) -> String {
        let request = "\(event.method) \(event.url(redacting: redactor))"
        return redactor.redact(text: "\(request) \(text) (\(event.route ?? "no route"), call \(event.call))").asOneLine
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let tenths = Int64(max(duration, .zero) / .microseconds(100))
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}

extension CallLog.Level {
    fileprivate init(_ outcome: CallEvent.Outcome) {
        switch outcome {
        case .answered(let status) where status.rawValue >= 500: self = .error
        case .answered(let status) where status.rawValue >= 400: self = .warning
        case .answered, .left: self = .info
        case .failed(let error): self = error.kind == .cancelled ? .info : .error
        }
    }
}

extension CallLog {
    /// Makes an observer that writes a `curl` command for each failed call, to repeat it in a shell; secrets are
    /// replaced.
    ///
    /// A call has failed if it ended with an error, or with a status of 400 or above. A canceled call and an abandoned
    /// body are not failures.
    ///
    /// - Parameters:
    ///   - redactor: Replaces secrets; ``Redactor/standard`` by default.
    ///   - write: Writes a command; see ``ApiRequest/curlCommand(redacting:)``. It must not block.
    public static func curlOfFailedCalls(
        redacting redactor: Redactor = .standard,
        to write: @escaping @Sendable (String) -> Void
    ) -> some CallObserver {
        FailedCallCurl(redactor: redactor, write: write)
    }
}

/// Writes a `curl` command for each failed call.
private struct FailedCallCurl: CallObserver {
    let redactor: Redactor
    let write: @Sendable (String) -> Void

    func handle(_ event: CallEvent) {
        guard case .finished(let totals) = event.kind, totals.outcome.isFailure else { return }
        write(event.curlCommand(redacting: redactor))
    }
}
