// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
public import Logging

/// Logs each call with swift-log, as one message with metadata.
///
/// Secrets are replaced.
///
/// ```swift
/// let provider = SystemProvider().observing(by: LoggedCalls(Logger(label: "api")))
/// ```
public struct LoggedCalls: CallObserver {
    private let logger: Logger
    private let redactor: Redactor

    /// Makes the observer.
    ///
    /// - Parameters:
    ///   - logger: The logger; its level decides which calls are written.
    ///   - redactor: Replaces secrets; the standard redactor by default.
    public init(_ logger: Logger, redacting redactor: Redactor = .standard) {
        self.logger = logger
        self.redactor = redactor
    }

    /// Whether the logger writes errors, the highest level of a call.
    public var isListening: Bool { logger.logLevel <= .error }

    /// Logs a finished call with level info, warning or error, depending on its status.
    ///
    /// Decisions during the call are logged with level debug. The texts of a line that the logger drops are not made.
    public func handle(_ event: CallEvent) {
        switch event.kind {
        case .finished(let totals):
            logger.log(level: level(totals.outcome), "call finished", metadata: metadata(event, totals))
        case _ where event.kind.isDecision:
            logger.debug("\(event.kind)", metadata: metadata(event))
        default:
            break
        }
    }

    private func metadata(_ event: CallEvent, _ totals: CallTotals) -> Logger.Metadata {
        var metadata = metadata(event)
        metadata["bytes"] = "\(totals.byteCount)"
        if let hit = totals.cacheHit { metadata["cache"] = "\(hit)" }
        if totals.attemptCount > 0 { metadata["attempts"] = "\(totals.attemptCount)" }
        metadata["elapsed"] = "\(totals.elapsed)"
        metadata["outcome"] = "\(totals.outcome)"
        if case .failed(let error) = totals.outcome { metadata["error"] = "\(redactor.redact(text: error.detail))" }
        return metadata
    }

    private func metadata(_ event: CallEvent) -> Logger.Metadata {
        [
            "call": "\(event.call)", "method": "\(event.method)", "route": "\(event.route ?? "-")",
            "url": "\(event.url(redacting: redactor))",
        ]
    }

    private func level(_ outcome: CallEvent.Outcome) -> Logger.Level {
        guard outcome.isFailure else { return .info }
        guard let status = outcome.status else { return .error }
        return status.rawValue < 500 ? .warning : .error
    }
}
