// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Writes a `curl` command for each failed call, to repeat it in a shell; secrets are replaced.
///
/// A call has failed if it ended with an error, or with a status of 400 or above. A canceled call and an abandoned body
/// are not failures.
public struct FailedCallCurl: CallObserver {
    private let redactor: Redactor
    private let write: @Sendable (String) -> Void

    /// Makes the observer.
    ///
    /// - Parameters:
    ///   - redactor: Replaces secrets; ``Redactor/standard`` by default.
    ///   - write: Writes a command; see ``ApiRequest/curlCommand(redacting:)``. It must not block.
    public init(redacting redactor: Redactor = .standard, to write: @escaping @Sendable (String) -> Void) {
        self.redactor = redactor
        self.write = write
    }

    /// Writes the command of a failed call.
    public func handle(_ event: CallEvent) {
        guard case .finished(let totals) = event.kind, totals.outcome.isFailure else { return }
        write(event.curlCommand(redacting: redactor))
    }
}
