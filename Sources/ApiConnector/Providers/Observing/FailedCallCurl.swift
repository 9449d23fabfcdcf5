// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
