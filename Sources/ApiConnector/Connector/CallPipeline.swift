// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The way of a request, one line a stage; each stage is in the folder that its comment names.
struct CallPipeline<Connection: ApiConnectionType>: Sendable {
    typealias Router = Connection.RouterType
    typealias Reader = ResponseReader<Router.EnvelopeType>

    private let connection: Connection
    let settings: CallSettings

    init(_ connection: Connection, _ options: CallOptions) {
        self.connection = connection
        self.settings = CallSettings(connection, options)
    }

    /// Goes the whole way, from a route or a URL to what the call hands out.
    func run<Outcome>(
        _ target: CallTarget<Router>,
        accepting accept: MediaType,
        _ hand: (Reader) throws(ApiConnectorError) -> Outcome
    ) async throws(ApiConnectorError) -> Outcome {
        let start = settings.configuration.timeSource.now
        var sent: ApiRequest?
        defer { settings.uploadProgress?.finish() }
        do throws(ApiConnectorError) {
            let request = begun(try request(for: target, accepting: accept.description))
            sent = request
            let response = try await redirects.response(for: request)  // Connector/Redirects, Providers, Transport
            sent = response.request
            let limit = settings.configuration.maximumBodyByteCount
            let body = try await response.body.collect(upTo: limit)  // Response
            return try hand(Reader(response: response, body: body, settings: settings.configuration))  // Response
        } catch {
            throw error.completed(request: sent, elapsed: settings.configuration.timeSource.now - start)
        }
    }

    /// Opens a stream, with the means to open it again where its format asks for that.
    func open<Element>(
        _ target: CallTarget<Router>,
        as format: StreamFormat<Element>
    ) async throws(ApiConnectorError) -> OpenStream<Element> {
        let timeSource = settings.configuration.timeSource
        let deadline = settings.configuration.timeouts.overall.map { timeSource.now + $0 }
        let answer = try await answer(to: target, accepting: format.accept, deadline: deadline) { request in
            if format.resumePolicy != nil, format.recipe.isResumedByByte { RangeResumption.prepare(&request) }
        }
        var stream = stream(of: answer, try await answer.accepted(), as: format)  // Response
        guard let policy = format.resumePolicy, answer.response.status != 204 else { return stream }
        let ranges = RangeResumption(answer.response)
        stream.resumption = StreamResumption(
            policy,
            timeSource: timeSource,
            deadline: deadline,
            obstacle: ranges.obstacle
        ) { (point) async throws(ApiConnectorError) in
            try await reopen(target, as: format, from: point, ranges, deadline: deadline)
        }
        return stream
    }

    /// Opens a stream once more, from a point on.
    private func reopen<Element>(
        _ target: CallTarget<Router>,
        as format: StreamFormat<Element>,
        from point: ResumePoint,
        _ ranges: RangeResumption,
        deadline: Duration?
    ) async throws(ApiConnectorError) -> OpenStream<Element> {
        let answer = try await answer(to: target, accepting: format.accept, deadline: deadline) { request in
            if !point.lastEventID.isEmpty { request.headers["Last-Event-ID"] = point.lastEventID }
            if let position = point.position { ranges.ask(for: position.offset, in: &request) }
        }
        do throws(ApiConnectorError) {
            if let position = point.position, try await !ranges.hasRest(answer, from: position.offset) {
                return stream(of: answer, ResponseBody(Data()).makeAsyncIterator(), as: format, from: point)
            }
            return stream(of: answer, try await answer.accepted(), as: format, from: point)
        } catch {
            throw answer.completing(error)
        }
    }

    /// The elements of an accepted response.
    private func stream<Element>(
        of answer: StreamedAnswer<Router.EnvelopeType>,
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
        to target: CallTarget<Router>,
        accepting accept: String,
        deadline: Duration?,
        _ change: (inout ApiRequest) -> Void
    ) async throws(ApiConnectorError) -> StreamedAnswer<Router.EnvelopeType> {
        let timeSource = settings.configuration.timeSource
        let start = timeSource.now
        var sent: ApiRequest?
        defer { settings.uploadProgress?.finish() }
        do throws(ApiConnectorError) {
            var request = try request(for: target, accepting: accept)
            request.delivery = .streamed
            request.deadline = deadline
            change(&request)
            request = begun(request)
            sent = request
            let response = try await redirects.response(for: request)  // Connector/Redirects, Providers, Transport
            return StreamedAnswer(
                reader: StreamedReader(response: response, settings: settings.configuration),
                completing: { [head = response.head, sent = response.request] error in
                    error.completed(request: sent, elapsed: timeSource.now - start, head: head)
                }
            )
        } catch {
            throw error.completed(request: sent, elapsed: timeSource.now - start)
        }
    }

    /// The first two stages: everything before the first suspension.
    func request(for target: CallTarget<Router>, accepting accept: String) throws(ApiConnectorError) -> ApiRequest {
        let url = try target.url(in: connection.environment)  // Routing
        return try RequestBuilder<Router>(environment: connection.environment, settings: settings, accept: accept)
            .request(to: url, for: target)  // Request
    }

    /// The request with what watches its body on the way, which is told of its length.
    private func begun(_ request: ApiRequest) -> ApiRequest {
        guard let progress = settings.uploadProgress else { return request }
        var request = request
        request.uploadProgress = progress
        progress.begin(request.body, settings.configuration.timeSource)
        return request
    }

    /// Each hop is an attempt within its limits of time, through the whole chain of providers.
    private var redirects: RedirectStage {
        let attempt = AttemptStage(
            provider: connection.provider,
            timeouts: settings.configuration.timeouts,
            timers: settings.configuration.timers
        )
        return RedirectStage(attempt: attempt, policy: settings.configuration.redirects)
    }
}
