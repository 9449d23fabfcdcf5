// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Decides when libcurl has to look again at a response over HTTP/2 that has begun; does not call libcurl itself.
///
/// libcurl 7.88 does not notice two ends of a response by itself, and waits for the server's next bytes:
///
/// - It has found a violation of HTTP/2, and has sent GOAWAY.
/// - The response is complete, and the server has stopped reading the request's body, so that there is no room for more
///   of it.
///
/// So it looks again once, 20 ms after a round that brought no data.
struct CurlNudge {
    private var isDue = false
    private var isRunning = false
    private var hasPiece = true

    /// Records a piece of the body.
    mutating func countPiece() {
        hasPiece = true
    }

    /// Ends a round of reads.
    ///
    /// - Returns: Whether libcurl should look again later.
    mutating func finishRound() -> Bool {
        defer { (isRunning, hasPiece) = (false, false) }
        guard !hasPiece, !isRunning, !isDue else { return false }
        isDue = true
        return true
    }

    /// Begins to look again, if that is due.
    mutating func begin() -> Bool {
        guard isDue else { return false }
        (isDue, isRunning) = (false, true)
        return true
    }
}
