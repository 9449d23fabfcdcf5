// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The stages of a call whose response is streamed.
///
/// Up to the response's head, the stages are the same as in ``CallPipeline``. All stages run again each time the stream
/// is opened.
struct StreamPipeline: Sendable {
    private let call: CallPipeline
    private let draft: @Sendable () throws(ApiConnectorError) -> ApiRequest

    init<Connection: ApiConnectionType>(
        _ connection: Connection,
        _ target: CallTarget<Connection.RouterType>,
        _ options: CallOptions
    ) {
        let environment = connection.environment
        draft = { () throws(ApiConnectorError) in try target.draft(in: environment) }
        call = CallPipeline(connection, options)
    }

    var configuration: ConnectionConfiguration { call.settings.configuration }

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
        let answer = try await answer(fields, deadline: next.deadline) { $0.becomeAttempt(next) }
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
        let timeSource = configuration.timeSource
        let start = timeSource.now
        // For a resumed stream, the start of the first attempt.
        let callStart =
            deadline.flatMap { deadline in configuration.limits.timeouts.overall.map { deadline - $0 } } ?? start
        defer { call.settings.uploadProgress?.finish() }
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
                reader: StreamedReader(response: response, settings: call.settings),
                request: request,
                completing: { [head = response.head, sent = response.request, settings = call.settings] error in
                    let now = timeSource.now
                    let error = error.completed(request: sent, elapsed: now - start, head: head)
                    return settings.namingOverallLimit(in: error, after: now - callStart)
                }
            )
        } catch {
            let now = timeSource.now
            let completed = error.completed(request: nil, elapsed: now - start)
            throw call.settings.namingOverallLimit(in: completed, after: now - callStart)
        }
    }

    /// Makes the complete request; runs before the first suspension.
    func request(_ fields: CallFields) throws(ApiConnectorError) -> ApiRequest {
        try call.request(draft(), accepting: fields)
    }
}

extension ApiRequest {
    /// Makes this request the next attempt of the call that `next` belongs to.
    mutating func becomeAttempt(_ next: ApiRequest) {
        context = next.context
        attempt = next.attempt
        history = next.history
        deadline = next.deadline
        // A router may generate a new idempotency key each time.
        keepKeyAndAttempts(of: next)
        values.streamMark = next.values.streamMark
        values.streamMark?.isResuming = true
    }
}
