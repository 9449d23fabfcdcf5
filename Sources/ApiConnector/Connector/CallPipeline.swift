// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The way of a request, one line a stage; each stage is in the folder that its comment names.
struct CallPipeline<Connection: ApiConnectionType>: Sendable {
    typealias Router = Connection.RouterType
    typealias Reader = ResponseReader<Router.EnvelopeType>

    private let connection: Connection
    private let settings: CallSettings

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
        do throws(ApiConnectorError) {
            let request = try request(for: target, accepting: accept.description)
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
        var stream = try await connect(target, as: format, deadline: deadline)
        guard let policy = format.resumePolicy, stream.canBeResumed else { return stream }
        stream.resumption = StreamResumption(policy, timeSource: timeSource, deadline: deadline) {
            (point) async throws(ApiConnectorError) in
            try await connect(target, as: format, from: point, deadline: deadline)
        }
        return stream
    }

    /// Goes the way up to the first chunk of an accepted response's body, which is read as elements then.
    private func connect<Element>(
        _ target: CallTarget<Router>,
        as format: StreamFormat<Element>,
        from point: ResumePoint? = nil,
        deadline: Duration?
    ) async throws(ApiConnectorError) -> OpenStream<Element> {
        let timeSource = settings.configuration.timeSource
        let start = timeSource.now
        var sent: ApiRequest?
        do throws(ApiConnectorError) {
            var request = try request(for: target, accepting: format.accept)
            request.delivery = .streamed
            request.deadline = deadline
            if let id = point?.lastEventID, !id.isEmpty { request.headers["Last-Event-ID"] = id }
            sent = request
            let response = try await redirects.response(for: request)  // Connector/Redirects, Providers, Transport
            sent = response.request
            let reader = StreamedReader<Router.EnvelopeType>(response: response, settings: settings.configuration)
            let chunks = try await reader.accepted()  // Response
            var context = reader.context
            context.resumePoint = point
            let head = response.head
            let sent = response.request
            var stream = OpenStream(chunks: chunks, parser: format.recipe.parser(context)) {  // Streaming
                $0.completed(request: sent, elapsed: timeSource.now - start, head: head)
            }
            stream.canBeResumed = response.status != 204
            return stream
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
