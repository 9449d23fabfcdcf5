// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The stages of a call whose response is streamed.
///
/// Up to the response's head, the stages are the same as in ``CallPipeline``. All stages run again each time the stream
/// is opened.
struct StreamPipeline: Sendable {
    private let settings: CallSettings
    private let draft: @Sendable () throws(ApiConnectorError) -> ApiRequest

    init<Connection: ApiConnectionType>(
        _ connection: Connection,
        _ target: CallTarget<Connection.RouterType>,
        _ options: CallOptions
    ) {
        let (settings, environment) = (CallSettings(connection, options), connection.environment)
        self.settings = settings
        draft = { () throws(ApiConnectorError) in
            try RequestBuilder(settings: settings).draft(of: target, in: environment)
        }
    }

    var configuration: ConnectionConfiguration { settings.configuration }

    /// Opens a stream, and allows resuming it if the format says so.
    func open<Element>(as format: StreamFormat<Element>) async throws(ApiConnectorError) -> OpenStream<Element> {
        let timeSource = configuration.timeSource
        let deadline = configuration.limits.timeouts.overall.map { timeSource.now + $0 }
        let mark = format.resumePolicy.map { _ in StreamMark() }
        let answer = try await answer(fields(of: format), deadline: deadline) { request in
            if let mark { request.values.streamMark = mark }
        }
        var stream = stream(of: answer, try await answer.accepted(), as: format)
        guard let policy = format.resumePolicy, let mark, answer.response.status != 204 else { return stream }
        let ranges = RangeResumption(answer)
        stream.resumption = StreamResumption(
            policy,
            after: answer.makeAttempt(),
            mark,
            obstacle: { point in point.position == nil ? point.eventIDObstacle : ranges.obstacle }
        ) { (point, next) async throws(ApiConnectorError) in
            try await reopen(as: format, from: point, ranges, next)
        }
        return stream
    }

    /// Opens a stream again at a resume point, with a request that is the next attempt.
    private func reopen<Element>(
        as format: StreamFormat<Element>,
        from point: ResumePoint,
        _ ranges: RangeResumption,
        _ next: ApiRequest
    ) async throws(ApiConnectorError) -> OpenStream<Element> {
        var fields = fields(of: format)
        if !point.lastEventID.isEmpty { fields.resumption["Last-Event-ID"] = point.lastEventID }
        if let position = point.position { fields.resumption.merge(ranges.fields(from: position.offset)) }
        let answer = try await answer(fields, deadline: next.deadline) { Self.resume(&$0, as: next) }
        do throws(ApiConnectorError) {
            if let position = point.position {
                let rest = try await ranges.rest(answer, from: position.offset)
                return stream(of: answer, rest, as: format, from: point)
            }
            return stream(of: answer, try await answer.accepted(), as: format, from: point)
        } catch {
            throw answer.completing(error)
        }
    }

    private func fields<Element>(of format: StreamFormat<Element>) -> CallFields {
        let isByteExact = format.resumePolicy != nil && format.isResumedByByte
        return CallFields(accept: [.accept: format.accept], isOfStream: true, isByteExact: isByteExact)
    }

    /// The elements of an accepted response.
    private func stream<Element>(
        of answer: StreamedAnswer,
        _ chunks: ResponseBody.AsyncIterator,
        as format: StreamFormat<Element>,
        from point: ResumePoint? = nil
    ) -> OpenStream<Element> {
        var context = answer.reader.context
        context.resumePoint = point
        let parser = format.parser(context)
        var stream = OpenStream(chunks: chunks, parser: parser, completing: answer.completing)
        stream.canBeResumed = answer.response.status != 204
        if point != nil { stream.attempt = answer.makeAttempt() }
        return stream
    }

    /// Runs the stages up to the head of a response with a streamed body.
    ///
    /// - Parameters:
    ///   - fields: The header fields that the call sets itself.
    ///   - made: A request from ``request(_:)``; with nil, this function creates it.
    ///   - change: Changes the request for this attempt.
    func answer(
        _ fields: CallFields,
        deadline: Duration?,
        made: ApiRequest? = nil,
        _ change: (inout ApiRequest) -> Void = { _ in }
    ) async throws(ApiConnectorError) -> StreamedAnswer {
        let call = CallPipeline(settings, deadline: deadline)
        defer { settings.uploadProgress?.finish() }
        do throws(ApiConnectorError) {
            var request = if let made { made } else { try request(fields) }
            if made != nil { fields.addResumption(to: &request) }
            request.delivery = .streamed
            request.deadline = deadline
            change(&request)
            call.beginUploadProgress(of: request)
            var sent = request
            let response = try await call.send(&sent)
            return StreamedAnswer(
                reader: StreamedReader(response: response, settings: settings),
                request: request,
                completing: { [head = response.head, sent = response.request] error in
                    call.failed(with: error, of: sent, head: head)
                }
            )
        } catch {
            throw call.failed(with: error)
        }
    }

    /// Makes the complete request; runs before the first suspension.
    func request(_ fields: CallFields) throws(ApiConnectorError) -> ApiRequest {
        try RequestBuilder(settings: settings).complete(draft(), fields)
    }

    /// Makes a request the next attempt of the call that `next` belongs to.
    static func resume(_ request: inout ApiRequest, as next: ApiRequest) {
        request.joinCall(of: next)
        request.copyAttempts(of: next)
        request.deadline = next.deadline
        // A router may generate a new idempotency key each time.
        request.keepKeyAndAttempts(of: next)
        request.values.streamMark = next.values.streamMark
        request.values.streamMark?.isResuming = true
    }
}

/// A response whose head has arrived and whose body is streamed.
struct StreamedAnswer: Sendable {
    let reader: StreamedReader

    /// The call's request before redirects and wrappers.
    ///
    /// A resumption makes a new request from the route, and continues the attempts of this one.
    let request: ApiRequest

    /// Completes errors of the body with request, head and time.
    let completing: @Sendable (ApiConnectorError) -> ApiConnectorError

    var response: ApiResponse { reader.response }

    /// Describes the attempt that got this response, for the stream's resumption.
    ///
    /// Call this method when the response is accepted, because it records the current time as the attempt's start.
    func makeAttempt() -> StreamAttempt { StreamAttempt(request, sent: response.request) }

    /// The chunks of the rest of a body, whose head is validated as if its status were 200.
    ///
    /// Checks that inspect the body do not run. They have accepted the beginning of the body, and would take the rest
    /// for a whole body.
    func acceptedAsRest() throws(ApiConnectorError) -> ResponseBody.AsyncIterator {
        var whole = response
        whole.status = 200
        do throws(ApiConnectorError) {
            try reader.settings.configuration.validation.validate(whole, nil)
        } catch {
            throw completing(error)
        }
        return response.body.makeAsyncIterator()
    }

    /// The chunks of an accepted response.
    func accepted() async throws(ApiConnectorError) -> ResponseBody.AsyncIterator {
        do throws(ApiConnectorError) {
            return try await reader.accepted()
        } catch {
            throw completing(error)
        }
    }
}
