// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// An exchange in the archive, from its start on.
///
/// Its contents are not redacted.
final class ArchiveEntry: Sendable {
    struct Snapshot {
        var number = 0
        var started: Date
        /// Without its body.
        var request: ApiRequest
        /// The body's beginning; nil for a streamed body, and for one that the caller has compressed.
        var body: Data?
        var byteCount: Int?
        /// The secret values of the request, collected from the whole body, because ``body`` may be cut.
        ///
        /// Nil if ``body`` is the whole body and no multipart form, or if there are no secrets.
        var hiddenSecrets: SecretValues?
        /// Whether the response has tokens.
        var asksForTokens = false
        /// The body's own media type, for a request without a `Content-Type` field.
        var mediaType: MediaType?
        var head: ResponseHead?
        var responseBody = Data()
        var responseByteCount = 0
        var outcome: CallEvent.Outcome?
        /// The time from the start to the head; nil if no head has arrived.
        var headTime: Duration?
        /// The time from the start to the end, or to now if the exchange is still running.
        var elapsed = Duration.zero
        var timesRecord: TransportTimesRecord?
        var isForgotten = false
    }

    /// The number in the archive; 0 if the entry is not stored.
    var number: Int { state.withLock { $0.number } }

    private let timeSource: any TimeSource
    private let start: Duration
    private let keptByteCount: Int
    private let redactor: Redactor
    /// Whether the kept bytes may not show all secrets of the body.
    private let hidesSecrets: Bool
    private let state: Locked<Snapshot>

    init(_ request: ApiRequest, number: Int = 0, bodyByteCount: Int, redacting redactor: Redactor = .standard) {
        let request = request.uncompressed
        self.redactor = redactor
        timeSource = request.timeSource
        start = timeSource.now
        keptByteCount = bodyByteCount + Redactor.marginByteCount
        var snapshot = Snapshot(number: number, started: timeSource.date, request: Self.archived(request))
        snapshot.mediaType = request.body.mediaType
        snapshot.asksForTokens = request.asksForTokens
        if request.body.source == nil, !request.hasCompressedBody, let data = try? request.body.data() {
            snapshot.byteCount = data.count
            // Copied, because a slice would keep all of the data in memory.
            snapshot.body = data.prefix(keptByteCount).withUnsafeBytes { Data($0) }
        } else {
            snapshot.byteCount = request.body.byteCount
        }
        hidesSecrets = !request.body.parts.isEmpty || snapshot.body != nil && snapshot.body?.count != snapshot.byteCount
        if hidesSecrets { snapshot.hiddenSecrets = Self.secretValues(of: request, known: redactor) }
        state = Locked(snapshot)
    }

    /// Sets the number, when the archive stores the entry.
    func setNumber(_ number: Int) {
        state.withLock { $0.number = number }
    }

    func begin(_ response: ApiResponse) {
        let time = timeSource.now - start
        let names = state.withLock { $0.request.ownSecrets }
        // An inner provider may have added names.
        let hasNewNames = hidesSecrets && response.request.ownSecrets !== names
        let secrets = hasNewNames ? Self.secretValues(of: response.request, known: redactor) : nil
        state.withLock { snapshot in
            guard !snapshot.isForgotten else { return }
            snapshot.request = Self.archived(response.request.uncompressed)
            snapshot.hiddenSecrets = .joining(snapshot.hiddenSecrets, secrets)
            snapshot.head = response.head
            snapshot.headTime = time
            snapshot.timesRecord = response.timesRecord
        }
    }

    func append(_ chunk: Data) {
        state.withLock { snapshot in
            snapshot.responseByteCount += chunk.count
            let room = keptByteCount - snapshot.responseBody.count
            // Copied, because a slice would keep the whole chunk in memory.
            if !snapshot.isForgotten, room > 0 { snapshot.responseBody.append(contentsOf: chunk.prefix(room)) }
        }
    }

    /// Records the outcome.
    ///
    /// - Returns: Whether this is the first recorded outcome.
    func end(_ outcome: CallEvent.Outcome, _ timesRecord: TransportTimesRecord? = nil) -> Bool {
        let time = timeSource.now - start
        return state.withLock { snapshot in
            guard snapshot.outcome == nil else { return false }
            snapshot.outcome = outcome
            snapshot.elapsed = time
            snapshot.timesRecord = timesRecord ?? snapshot.timesRecord
            return true
        }
    }

    /// Releases the bodies, because the entry has left the archive.
    func dropBodies() {
        state.withLock { snapshot in
            snapshot.isForgotten = true
            snapshot.body = nil
            snapshot.hiddenSecrets = nil
            snapshot.responseBody = Data()
        }
    }

    func snapshot() -> Snapshot {
        let now = timeSource.now - start
        return state.withLock { snapshot in
            var snapshot = snapshot
            if snapshot.outcome == nil { snapshot.elapsed = now }
            return snapshot
        }
    }

    /// The secret values of a whole request, by the names that the redactor or the request itself knows.
    private static func secretValues(of request: ApiRequest, known redactor: Redactor) -> SecretValues? {
        request.secretValues(known: request.redactor(from: redactor, includingValues: false))
    }

    /// A request without its body and without the references that it would keep in memory.
    private static func archived(_ request: ApiRequest) -> ApiRequest {
        var request = request.detached(reportingEvents: false)
        request.body = .empty
        request.values = RequestValues()
        request.forgetAttempts()
        return request
    }
}
