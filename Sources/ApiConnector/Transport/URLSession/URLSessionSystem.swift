// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The features of URLSession, which differ between Apple's systems and Linux.
///
/// The page "URLSession on Apple's systems" says which of them Apple documents.
enum URLSessionSystem: Sendable {
    case apple
    case linux

    static var current: URLSessionSystem {
        #if canImport(FoundationNetworking)
        .linux
        #else
        .apple
        #endif
    }

    /// Whether `suspend()` and `resume()` slow a transfer down.
    ///
    /// On Linux they restart it (M2).
    var suspendsTasks: Bool { self == .apple }

    /// Whether the body of a request can come from a file or a stream.
    ///
    /// On Linux, such a body is truncated (R2).
    var streamsRequestBodies: Bool { self == .apple }

    /// Whether a session measures its tasks.
    var measuresTimes: Bool { self == .apple }

    /// Why the system does not send a request; nil if it sends it.
    ///
    /// On Apple's systems, a GET with a body fails as -1103, "resource exceeds maximum size".
    func refusal(of request: ApiRequest) -> String? {
        guard self == .apple, request.method == .get, !request.body.isEmpty else { return nil }
        return "URLSession on Apple's systems does not send a GET with a body; use POST, or put the values in the query"
    }

    /// Whether an unanswered challenge for a user name and a password is rejected, so that the 401 is the response.
    ///
    /// On Apple's systems, the default handling responds to a proxy with the credentials in the system's settings.
    func rejectsChallenge(ofProxy isOfProxy: Bool) -> Bool { self == .linux || !isOfProxy }

    /// Whether the error of a task that rejected a challenge is the result of this rejection.
    ///
    /// On Linux, the rejection ends the task with the code of a cancellation, -999 (M6). On Apple's systems, it does
    /// not cause an error.
    func isRejectedChallenge(_ error: (any Error)?) -> Bool {
        self == .linux && (error as NSError?)?.code == NSURLErrorCancelled
    }
}
