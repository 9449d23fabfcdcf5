// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The way of a request, one line a stage; each stage is in the folder that its comment names.
///
/// Only its first stage knows the router's type and only its last the value's: what lies between is not generic, for
/// metadata of generic types are looked up anew at each use outside the user's module.
struct CallPipeline: Sendable {
    private let draft: @Sendable () throws(ApiConnectorError) -> ApiRequest
    let settings: CallSettings

    init<Connection: ApiConnectionType>(
        _ connection: Connection,
        _ target: CallTarget<Connection.RouterType>,
        _ options: CallOptions
    ) {
        let environment = connection.environment
        draft = { () throws(ApiConnectorError) in try target.draft(in: environment) }
        settings = CallSettings(connection, options)
    }

    /// Goes the whole way, from a route or a URL to what the call hands out.
    func run<Outcome>(
        accepting accept: String,
        _ hand: (ResponseReader) throws(ApiConnectorError) -> Outcome
    ) async throws(ApiConnectorError) -> Outcome {
        let start = settings.configuration.timeSource.now
        defer { settings.uploadProgress?.finish() }
        do throws(ApiConnectorError) {
            var request = try request(accepting: accept)
            watchBody(of: &request)
            let reader = try await collected(send(request))  // Response
            do throws(ApiConnectorError) {
                return try hand(reader)
            } catch {
                throw error.completed(request: reader.response.request)
            }
        } catch {
            throw error.completed(request: nil, elapsed: settings.configuration.timeSource.now - start)
        }
    }

    /// Opens a stream, with the means to open it again where its format asks for that.
    func open<Element>(as format: StreamFormat<Element>) async throws(ApiConnectorError) -> OpenStream<Element> {
        let timeSource = settings.configuration.timeSource
        let deadline = settings.configuration.timeouts.overall.map { timeSource.now + $0 }
        let answer = try await answer(accepting: format.accept, deadline: deadline) { request in
            if format.resumePolicy != nil, format.recipe.isResumedByByte { RangeResumption.prepare(&request) }
        }
        var stream = stream(of: answer, try await answer.accepted(), as: format)  // Response
        guard let policy = format.resumePolicy, answer.response.status != 204 else { return stream }
        let ranges = RangeResumption(answer)
        stream.resumption = StreamResumption(
            policy,
            timeSource: timeSource,
            deadline: deadline,
            obstacle: { [repeatObstacle = answer.repeatObstacle] point in
                point.position == nil ? repeatObstacle : ranges.obstacle
            }
        ) { [first = answer.request] (point) async throws(ApiConnectorError) in
            try await reopen(as: format, from: point, ranges, first, deadline: deadline)
        }
        return stream
    }

    /// Opens a stream once more, from a point on.
    private func reopen<Element>(
        as format: StreamFormat<Element>,
        from point: ResumePoint,
        _ ranges: RangeResumption,
        _ first: ApiRequest,
        deadline: Duration?
    ) async throws(ApiConnectorError) -> OpenStream<Element> {
        let answer = try await answer(accepting: format.accept, deadline: deadline) { request in
            // A router may make another one each time.
            if let key = first.headers[.idempotencyKey] { request.headers[.idempotencyKey] = key }
            if !point.lastEventID.isEmpty { request.headers["Last-Event-ID"] = point.lastEventID }
            if let position = point.position { ranges.ask(for: position.offset, in: &request) }
        }
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

    /// The elements of an accepted response.
    private func stream<Element>(
        of answer: StreamedAnswer,
        _ chunks: ResponseBody.AsyncIterator,
        as format: StreamFormat<Element>,
        from point: ResumePoint? = nil
    ) -> OpenStream<Element> {
        var context = answer.reader.context
        context.resumePoint = point
        let parser = format.recipe.parser(context)
        var stream = OpenStream(chunks: chunks, parser: parser, completing: answer.completing)  // Streaming
        stream.canBeResumed = answer.response.status != 204
        return stream
    }

    /// Goes the way up to the head of a response whose body is streamed.
    ///
    /// - Parameter change: What this attempt wants of the request otherwise.
    func answer(
        accepting accept: String,
        deadline: Duration?,
        _ change: (inout ApiRequest) -> Void
    ) async throws(ApiConnectorError) -> StreamedAnswer {
        let timeSource = settings.configuration.timeSource
        let start = timeSource.now
        defer { settings.uploadProgress?.finish() }
        do throws(ApiConnectorError) {
            var request = try request(accepting: accept)
            request.delivery = .streamed
            request.deadline = deadline
            change(&request)
            watchBody(of: &request)
            let response = try await send(request)
            return StreamedAnswer(
                reader: StreamedReader(response: response, settings: settings),
                request: request,
                completing: { [head = response.head, sent = response.request] error in
                    error.completed(request: sent, elapsed: timeSource.now - start, head: head)
                }
            )
        } catch {
            throw error.completed(request: nil, elapsed: timeSource.now - start)
        }
    }

    /// The first two stages: everything before the first suspension.
    func request(accepting accept: String) throws(ApiConnectorError) -> ApiRequest {
        var request = try draft()  // Routing
        try RequestBuilder(settings: settings, accept: accept).complete(&request)  // Request
        return request
    }

    /// Gives the request what watches its body on the way, and tells that of the body's length.
    private func watchBody(of request: inout ApiRequest) {
        guard let progress = settings.uploadProgress else { return }
        request.uploadProgress = progress
        progress.begin(request.body, settings.configuration.timeSource)
    }

    /// A response with its whole body.
    private func collected(_ response: consuming ApiResponse) async throws(ApiConnectorError) -> ResponseReader {
        do throws(ApiConnectorError) {
            let body = try await response.body.collect(upTo: settings.configuration.maximumBodyByteCount)
            return ResponseReader(response: response, body: body, settings: settings)
        } catch {
            throw error.completed(request: response.request)
        }
    }

    /// Each hop is an attempt within its limits of time, through the whole chain of providers.
    private func send(_ request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        do throws(ApiConnectorError) {
            return try await RedirectStage(settings)
                .response(for: request)  // Connector/Redirects, Providers, Transport
        } catch {
            throw error.completed(request: request)
        }
    }
}
