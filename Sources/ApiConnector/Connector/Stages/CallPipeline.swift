// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Runs the stages of a call.
///
/// 1. `RouteURL` and `RouteProperties` read the route: URL, method, header fields and body.
/// 2. `RequestBuilder` makes the request, with the settings of the connection and the call.
/// 3. `RedirectStage` sends the request and follows redirects. Each hop goes through the providers to the transport.
/// 4. `ResponseBody` collects the body.
/// 5. `ResponseReader` validates the response, opens the envelope and decodes the value.
///
/// Only the first stage knows the router's type, and only the last stage knows the value's type. The stages in between
/// are not generic: if code uses a generic type that another module defines, Swift's runtime looks up the metadata of
/// this type at each use.
///
/// The stages are inlined into each other, because each asynchronous call allocates task memory and moves the large
/// response. Other code that runs once per call is inlined for the same reason: redirects, the
/// attempt, a body that is complete, and the response of TestConnector.
@usableFromInline struct CallPipeline: Sendable {
    let settings: CallSettings

    /// When the request was begun.
    private let start: Duration
    /// The deadline of the call that a resumed stream continues; nil for a new call.
    private let deadline: Duration?

    @usableFromInline init(_ connection: some ApiConnectionType, _ options: borrowing CallOptions) {
        self.init(CallSettings(connection, options))
    }

    /// - Parameter deadline: The deadline of the call that a resumed stream continues; nil, the default, for a new call.
    init(_ settings: CallSettings, deadline: Duration? = nil) {
        self.settings = settings
        self.deadline = deadline
        start = settings.configuration.timeSource.now
    }

    var builder: RequestBuilder { RequestBuilder(settings: settings) }

    /// Writes the dates in the query of a route.
    @usableFromInline var encoder: JSONEncoder { settings.configuration.encoder }

    /// Makes the request of a route; runs before the first suspension.
    ///
    /// The code that reads the route is inlined into the user's module; see ``RouteURL``.
    @inlinable func request<Router: ApiRouter>(
        of route: Router,
        in environment: Router.EnvironmentType,
        accepting fields: CallFields
    ) throws(ApiConnectorError) -> ApiRequest {
        let url = RouteURL(of: route, in: environment, datesBy: encoder)
        return try request(of: route, RouteProperties(of: route), at: url, in: environment, accepting: fields)
    }

    @usableFromInline func request<Router: ApiRouter>(
        of route: Router,
        _ properties: RouteProperties,
        at url: RouteURL,
        in environment: Router.EnvironmentType,
        accepting fields: CallFields
    ) throws(ApiConnectorError) -> ApiRequest {
        do throws(ApiConnectorError) {
            return try builder.complete(builder.draft(of: route, properties, at: url, in: environment), fields)
        } catch {
            settings.uploadProgress?.finish()
            throw failed(with: error)
        }
    }

    /// Makes the request of a target; runs before the first suspension.
    func request<Router: ApiRouter>(
        of target: CallTarget<Router>,
        in environment: Router.EnvironmentType,
        accepting fields: CallFields
    ) throws(ApiConnectorError) -> ApiRequest {
        do throws(ApiConnectorError) {
            return try builder.complete(builder.draft(of: target, in: environment), fields)
        } catch {
            settings.uploadProgress?.finish()
            throw failed(with: error)
        }
    }

    /// Runs the stages after the request.
    ///
    /// - Parameter read: Converts the response to the call's result.
    func run<Output: Sendable>(
        _ request: consuming ApiRequest,
        _ read: @escaping @Sendable (ResponseReader) throws(ApiConnectorError) -> Output
    ) async throws(ApiConnectorError) -> Output {
        defer { settings.uploadProgress?.finish() }
        do throws(ApiConnectorError) {
            let reader = try await answer(to: request)
            do throws(ApiConnectorError) {
                return reader.isLarge ? try await reader.readInTask(read) : try read(reader)
            } catch {
                throw error.completed(request: reader.response.request)
            }
        } catch {
            throw failed(with: error)
        }
    }

    /// The error of a call that has failed: with its request and time, and with the call's time limit if it has passed.
    func failed(
        with error: ApiConnectorError,
        of request: ApiRequest? = nil,
        head: ResponseHead? = nil
    ) -> ApiConnectorError {
        let configuration = settings.configuration
        let now = configuration.timeSource.now
        let error = error.completed(request: request, elapsed: now - start, head: head)
        guard let overall = configuration.limits.timeouts.overall,
            deadline.map({ $0 <= now }) ?? (now - start >= overall)
        else { return error }
        return error.naming(overall, "Timeouts.overall")
    }

    /// Runs a call that decodes a value.
    @usableFromInline func value<Value: Decodable & Sendable>(
        _ type: Value.Type,
        _ request: consuming ApiRequest
    ) async throws(ApiConnectorError) -> Value {
        try await run(request, ResponseReader.value)
    }

    /// Reports the length of the request's body to the upload progress.
    func beginUploadProgress(of request: ApiRequest) {
        settings.uploadProgress?.begin(of: request.body.byteCount, settings.configuration.timeSource)
    }

    /// Sends a request and collects the response's body.
    @inline(__always)
    private func answer(to request: consuming ApiRequest) async throws(ApiConnectorError) -> ResponseReader {
        var request = request
        beginUploadProgress(of: request)
        return try await collected(send(&request))
    }

    /// Collects a response's body.
    ///
    /// Usually the transport has already collected it. A user's provider may return a streamed body.
    @inline(__always)
    private func collected(_ response: consuming ApiResponse) async throws(ApiConnectorError) -> ResponseReader {
        do throws(ApiConnectorError) {
            let body = try await response.body.collect(upTo: settings.configuration.maximumBodyByteCount)
            return ResponseReader(response: response, body: body, settings: settings)
        } catch {
            throw error.completed(request: response.request)
        }
    }

    /// Sends a request through redirects and providers.
    ///
    /// Each hop has its own time limits.
    @inline(__always)
    func send(_ request: inout ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        do throws(ApiConnectorError) {
            let response = try await RedirectStage(settings).response(for: &request)
            try response.checkNotUnrequestedPart()
            return response
        } catch {
            throw error.completed(request: request)
        }
    }
}

/// The settings of one call: those of its connection with the call's options applied.
final class CallSettings: Sendable {
    let configuration: ConnectionConfiguration
    let provider: any DataRequestType
    let environment: any ApiEnvironment
    let envelope: any ApiEnvelope.Type

    /// The header fields of the call's options.
    ///
    /// A redirect removes some of them, for example credentials if the origin changes.
    let headers: HTTPHeaders

    /// The call's values for the providers.
    let values: RequestValues

    /// The progress of the request's upload.
    var uploadProgress: UploadProgress? { values.uploadProgress }

    init<Connection: ApiConnectionType>(_ connection: Connection, _ options: borrowing CallOptions) {
        var configuration = connection.configuration
        configuration.apply(options)
        self.configuration = consume configuration
        provider = connection.provider
        environment = connection.environment
        envelope = Connection.RouterType.EnvelopeType.self
        headers = options.headers
        values = options.values
    }
}
