// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Writes a `curl` command for each call that failed, so that it can be tried again in a shell; secrets are replaced.
///
/// A call fails when there is no whole response or its status is 400 or above; a canceled one does not.
public struct FailedCallCurl: CallObserver {
    private let redactor: Redactor
    private let write: @Sendable (String) -> Void

    /// Makes the observer.
    ///
    /// - Parameters:
    ///   - redactor: What replaces secrets; ``Redactor/standard`` by default.
    ///   - write: Takes a command; see ``ApiRequest/curlCommand(redacting:)``. It must not wait.
    public init(redacting redactor: Redactor = .standard, to write: @escaping @Sendable (String) -> Void) {
        self.redactor = redactor
        self.write = write
    }

    /// Writes the command of a call that has failed.
    public func handle(_ event: CallEvent) {
        guard case .finished(let totals) = event.kind, totals.outcome.isFailure else { return }
        write(event.curlCommand(redacting: redactor))
    }
}
