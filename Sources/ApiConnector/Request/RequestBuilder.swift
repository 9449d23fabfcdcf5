// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// From a URL to the request that a provider gets: header fields and body.
struct RequestBuilder<Router: ApiRouter> {
    let environment: Router.EnvironmentType
    let settings: CallSettings
    let accept: String

    func request(to url: URL, for target: CallTarget<Router>) throws(ApiConnectorError) -> ApiRequest {
        var request = target.draft(to: url, in: environment, settings)
        let routeHeaders = request.headers
        request.headers = headers(of: request, isOwnOrigin: isOwnOrigin(url, target))
        do {
            request.body = try request.body.encoded(with: settings.configuration.encoder)
        } catch {
            throw error.completed(request: request)
        }
        if !request.headers.contains(.accept) { request.headers.append(.accept, accept) }
        // A default for all requests cannot know what this body is; the route and the call can.
        let isTypeGiven = routeHeaders.contains(.contentType) || settings.headers.contains(.contentType)
        if let mediaType = request.body.mediaType, !isTypeGiven {
            request.headers[.contentType] = mediaType.description
        }
        if let overall = settings.configuration.timeouts.overall {
            request.deadline = settings.configuration.timeSource.now + overall
        }
        try request.checkSendable()
        return request
    }

    /// Environment, router, connection, call: the later wins, nothing is dropped.
    ///
    /// But to another origin than the environment's go no credentials of the environment and the connection.
    private func headers(of request: ApiRequest, isOwnOrigin: Bool) -> HTTPHeaders {
        var headers = environment.defaultHeaders
        headers.merge(request.headers)
        headers.merge(settings.configuration.headers)
        if !isOwnOrigin {
            for field in headers where Redactor.standard.isSecret(header: field.name) { headers.remove(field.name) }
        }
        headers.merge(settings.headers)
        return headers
    }

    private func isOwnOrigin(_ url: URL, _ target: CallTarget<Router>) -> Bool {
        switch target {
        case .route:
            true
        case .url:
            Origin(url) == Origin(environment)
        }
    }
}
