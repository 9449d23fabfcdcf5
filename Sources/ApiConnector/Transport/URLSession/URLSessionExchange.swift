// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// One request over a session: the task's delegate, which resumes the caller exactly once.
///
/// The callbacks store data and return, because on Linux they all share one queue (M1). The caller makes the response
/// from the stored parts.
final class URLSessionExchange: NSObject, URLSessionDataDelegate, Sendable {
    /// The received head, with the body or its source.
    struct Arrival: Sendable {
        let head: HTTPURLResponse
        let body: ResponseBody
    }

    typealias Outcome = Result<Arrival, ApiConnectorError>

    private struct State {
        /// M18: released when the transfer ends, because the task retains its delegate forever.
        var task: URLSessionTask?
        var continuation: UnsafeContinuation<Outcome, Never>?
        /// The outcome for a caller that starts to wait later.
        var early: Outcome?
        var isOver = false
        var head: HTTPURLResponse?
        var body = Data()
        var isChallenged = false
        /// Receives the body of a streamed response; nil until the response's head is returned.
        var stream: URLSessionBody?
        /// Writes the request's body if it is streamed.
        var upload: Upload?
    }

    private struct Upload: Sendable {
        let writer: Task<Void, Never>
        /// Discards the stream.
        ///
        /// The stream is kept until then: a stream that ends early would look like a complete body.
        let discard: @Sendable () -> Void

        func end() {
            writer.cancel()
            discard()
        }
    }

    let request: ApiRequest
    /// The session's measurements; nil on Linux, where it measures nothing.
    let timesRecord = URLSessionSystem.current.measuresTimes ? TransportTimesRecord() : nil
    private let pins: URLSessionPins
    private let challenges: URLSessionChallenges
    private let state: Locked<State>

    init(
        request: ApiRequest,
        task: URLSessionTask,
        pins: URLSessionPins,
        challenges: URLSessionChallenges = URLSessionChallenges()
    ) {
        self.request = request
        self.pins = pins
        self.challenges = challenges
        state = Locked(State(task: task))
        super.init()
        task.delegate = self
    }

    func start(reporting continuation: UnsafeContinuation<Outcome, Never>) {
        let (earlier, task) = state.withLock { state in
            if !state.isOver { state.continuation = continuation }
            return (state.early.take(), state.task)
        }
        if let earlier {
            continuation.resume(returning: earlier)
        } else {
            task?.resume()
        }
    }

    /// Returns an error to the caller immediately, and cancels the transfer (M4).
    func stop(_ error: ApiConnectorError) {
        finish(.failure(error))
        cancelTask()
    }

    /// Stores the task that writes the request's body, and ends the previous one.
    ///
    /// - Parameter discard: Discards the stream; called once, when the session no longer reads it.
    /// - Returns: False if the transfer has ended. The upload has then ended, too, and the session must not get its
    ///   stream.
    func keepUpload(_ writer: Task<Void, Never>, discarding discard: @escaping @Sendable () -> Void) -> Bool {
        let upload = Upload(writer: writer, discard: discard)
        let (ended, isKept): (Upload?, Bool) = state.withLock { state in
            guard state.task != nil else { return (upload, false) }
            defer { state.upload = upload }
            return (state.upload, true)
        }
        ended?.end()
        return isKept
    }

    private func cancelTask() {
        let (task, writer) = state.withLock { ($0.task.take(), $0.upload?.writer) }
        writer?.cancel()
        guard let task else { return }
        // M5: cancel() waits for the session's queue, so it must not be called on that queue or under a lock.
        DispatchQueue.global().async { task.cancel() }
    }

    /// Returns the head while the body is arriving.
    private func startStream(_ head: HTTPURLResponse) {
        let flow =
            URLSessionSystem.current.suspendsTasks ? state.withLock { $0.task }.map(URLSessionFlow.init(of:)) : nil
        let body = URLSessionBody(of: request, flow: flow) { [weak self] in self?.cancelTask() }
        let isFirst = state.withLock { state in
            guard !state.isOver, state.stream == nil else { return false }
            state.stream = body
            return true
        }
        guard isFirst else { return }
        finish(.success(Arrival(head: head, body: ResponseBody(source: body))))
    }

    private func finish(_ outcome: Outcome) {
        let continuation = state.withLock { state in
            guard !state.isOver else { return nil as UnsafeContinuation<Outcome, Never>? }
            state.isOver = true
            let continuation = state.continuation.take()
            if continuation == nil { state.early = outcome }
            state.body = Data()
            return continuation
        }
        continuation?.resume(returning: outcome)
    }
}

extension URLSessionExchange {
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        request.reportProgress()
        let head = response as? HTTPURLResponse
        let earlier = state.withLock { state in
            defer { state.head = head }
            return state.head
        }
        if let reason = head?.lengthFlaw {
            stop(ApiConnectorError(.malformedResponse, at: .response, reason, request: request))
        }
        if request.delivery == .streamed, let head, head.isServers(after: earlier, request) { startStream(head) }
        // R1: on Linux, any other disposition is ignored or traps.
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        request.reportProgress()
        if request.delivery == .streamed, let head = state.withLock({ $0.stream == nil ? $0.head : nil }) {
            startStream(head)
        }
        if let stream = state.withLock({ $0.stream }) { return stream.receive(data) }
        let limit = request.delivery.maximumByteCount
        let isTooLarge = state.withLock { state in
            guard !state.isOver else { return false }
            guard state.body.count + data.count <= limit else { return true }
            state.body.append(data)
            return false
        }
        if isTooLarge { stop(.bodyTooLarge(limit: limit).completed(request: request)) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        request.reportSent(byteCount: Int(clamping: totalBytesSent))
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        // M7, R3: the 3xx itself is the response.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        if let reason = pins.refusal(of: challenge) {
            let error = ApiConnectorError(.secureConnectionFailed, reason, request: request)
            finish(.failure(error.advising(pins.advice(about: reason))))
            return answer(with: .cancelAuthenticationChallenge, completionHandler)
        }
        switch challenges.answer(to: challenge.protectionSpace, failureCount: challenge.previousFailureCount) {
        case .credential(let credential):
            completionHandler(.useCredential, credential)
        case .handler(let handler):
            // Called once, on any queue.
            nonisolated(unsafe) let completionHandler = completionHandler
            Task {
                let (disposition, credential) = await handler(challenge)
                completionHandler(disposition, credential)
            }
        case .session:
            // Called once, on any queue.
            nonisolated(unsafe) let handler = completionHandler
            if session.asksItsDelegate(about: challenge, of: task, { handler($0, $1) }) { return }
            let space = challenge.protectionSpace
            guard space.isHTTPAuthentication, URLSessionSystem.current.rejectsChallenge(ofProxy: space.isProxy()) else {
                return completionHandler(.performDefaultHandling, nil)
            }
            // M6: on Linux, the default hangs forever. The 401 itself is the response; its head and body have arrived.
            state.withLock { $0.isChallenged = true }
            answer(with: .rejectProtectionSpace, completionHandler)
        }
    }

    private func answer(
        with disposition: URLSession.AuthChallengeDisposition,
        _ completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // Called once, on any queue.
        nonisolated(unsafe) let completionHandler = completionHandler
        // M5: on Linux, either disposition cancels the task.
        DispatchQueue.global().async { completionHandler(disposition, nil) }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping (CachedURLResponse?) -> Void
    ) {
        // The library's own cache decides what is stored; the session's would store responses of signed-in users on
        // disk.
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (head, body, isChallenged, stream, upload) = state.withLock { state in
            state.task = nil
            return (state.head, state.body, state.isChallenged, state.stream.take(), state.upload.take())
        }
        upload?.end()
        let isRejection = isChallenged && URLSessionSystem.current.isRejectedChallenge(error)
        if let stream {
            let failure = isRejection ? nil : error
            return stream.end(failure.map { self.error($0, hasHead: true) })
        }
        if let error, !isRejection {
            finish(.failure(self.error(error, hasHead: head != nil)))
        } else if let head = head ?? task.response as? HTTPURLResponse {
            finish(.success(Arrival(head: head, body: ResponseBody(body))))
        } else {
            let detail = "the connection was closed before the head of the response was complete"
            finish(.failure(ApiConnectorError(.connectionLost, detail, request: request)))
        }
    }

    private func error(_ cause: any Error, hasHead: Bool) -> ApiConnectorError {
        var error = ApiConnectorError(transport: cause, request: request, hasHead: hasHead)
        error.timesRecord = timesRecord
        return error
    }
}

extension HTTPURLResponse {
    /// Why the length of the body is ambiguous; nil if it is not.
    ///
    /// Foundation on Linux ignores the length, and half of the body would be a success (RFC 9112, section 6.3).
    fileprivate var lengthFlaw: String? {
        guard value(forHTTPHeaderField: "Content-Length") != nil,
            let codings = value(forHTTPHeaderField: "Transfer-Encoding"), !codings.lowercased().contains("chunked")
        else { return nil }
        return CurlFraming.ignoredLength
    }

    /// Whether a head is certainly the server's, and not a proxy's response to CONNECT.
    ///
    /// Foundation on Linux also delivers the proxy's head: a refusal, or the success before the server's own head. On a
    /// reused connection there is only the server's head. So for a stream through a proxy, the second head is used. If
    /// there is no second head, the first one is used when the first bytes or the end of the body have arrived.
    fileprivate func isServers(after earlier: HTTPURLResponse?, _ request: ApiRequest) -> Bool {
        #if canImport(FoundationNetworking)
        guard request.url.scheme?.lowercased() == "https" else { return true }
        if let earlier, 200..<300 ~= earlier.statusCode { return true }
        return ProxySetting(for: request.url, environment: ProcessInfo.processInfo.environment) == nil
        #else
        return true
        #endif
    }
}

/// M13: forwards a session's callbacks to the task's own delegate, which Linux does not call.
///
/// A system that calls the task's delegate itself does not call this forwarder.
final class URLSessionForwarder: NSObject, URLSessionDataDelegate, Sendable {
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        guard let exchange = dataTask.delegate as? URLSessionExchange else { return completionHandler(.allow) }
        exchange.urlSession(
            session,
            dataTask: dataTask,
            didReceive: response,
            completionHandler: completionHandler
        )
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        (dataTask.delegate as? URLSessionExchange)?.urlSession(session, dataTask: dataTask, didReceive: data)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        (task.delegate as? URLSessionExchange)?.urlSession(
            session,
            task: task,
            didSendBodyData: bytesSent,
            totalBytesSent: totalBytesSent,
            totalBytesExpectedToSend: totalBytesExpectedToSend
        )
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let exchange = task.delegate as? URLSessionExchange else {
            return completionHandler(.performDefaultHandling, nil)
        }
        exchange.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        (task.delegate as? URLSessionExchange)?.urlSession(session, task: task, didCompleteWithError: error)
    }
}
