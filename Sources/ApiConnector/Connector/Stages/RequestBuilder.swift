// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Makes the request of a call, before its first suspension.
///
/// The draft of a request has the URL, the method, the header fields and the body of a route, or of a URL that a server
/// returned. The complete request also has the settings of the connection and the call: header fields, limits, and an
/// encoded body.
struct RequestBuilder {
    let settings: CallSettings

    private var requestSettings: RequestSettings { settings.configuration.requestSettings }

    /// The draft of a target.
    func draft<Router: ApiRouter>(
        of target: CallTarget<Router>,
        in environment: Router.EnvironmentType
    ) throws(ApiConnectorError) -> ApiRequest {
        switch target {
        case .route(let route):
            let url = RouteURL(of: route, in: environment, datesBy: settings.configuration.encoder)
            return try draft(of: route, RouteProperties(of: route), at: url, in: environment)
        case .url(let url, let method, let body):
            return try draft(at: url, method, body, in: environment)
        }
    }

    /// The draft of a route, with the properties that were read from it.
    func draft<Router: ApiRouter>(
        of route: Router,
        _ properties: RouteProperties,
        at url: RouteURL,
        in environment: Router.EnvironmentType
    ) throws(ApiConnectorError) -> ApiRequest {
        if let flaw = EnvironmentProperties.flaw(of: environment) {
            throw .unusable(property: flaw, of: route, url.url, at: .url)
        }
        let url = try url.checked(for: route)
        func unusable(_ name: String, _ type: Any.Type, _ wanted: String) -> ApiConnectorError {
            .unusable(property: UnusableProperty.text(name, type, wanted), of: route, url)
        }
        guard let method = properties.method else { throw unusable("method", Router.MethodType.self, "HTTPMethod") }
        guard let headers = properties.headers else {
            throw unusable("headers", Router.HeadersType.self, "HTTPHeaders")
        }
        guard let body = properties.body else { throw unusable("body", Router.BodyType.self, "RequestBody") }
        var request = ApiRequest(url: url, method: method, headers: headers, body: body)
        request.state = RequestState(CallContext(route: route, environment: environment), requestSettings)
        if method == .get, !body.isEmpty, !route.allowsBodyInGet {
            let name = route.routeName
            throw Self.bodyInGet(
                "route \(name): its method is GET, but it has a body; set its method, or set allowsBodyInGet",
                request
            )
        }
        return request
    }

    /// The draft for a URL that a server returned.
    private func draft(
        at url: URL,
        _ method: HTTPMethod,
        _ body: RequestBody,
        in environment: some ApiEnvironment
    ) throws(ApiConnectorError) -> ApiRequest {
        var request = ApiRequest(url: url.absoluteURL, method: method, body: body)
        request.state = RequestState(CallContext(environment: environment), requestSettings)
        if method == .get, !body.isEmpty {
            throw Self.bodyInGet("its method is GET, but it has a body; set its method", request)
        }
        return request
    }

    /// Adds the route and the header fields of the first page to a draft for a following page of the same origin.
    ///
    /// Fields that describe the first page's body, and conditions and ranges for the first page, are not added.
    func continuePages<Router: ApiRouter>(
        of route: Router,
        in environment: Router.EnvironmentType,
        to draft: inout ApiRequest
    ) {
        draft.begin(CallContext(pageRoute: route, environment: environment))
        var fields = RouteProperties(of: route).headers ?? HTTPHeaders()
        for name in HTTPHeaders.Name.fieldsOfABody + Self.fieldsOfOneResource { fields.remove(name) }
        draft.headers = fields
    }

    private static var fieldsOfOneResource: [HTTPHeaders.Name] {
        [
            .range, .idempotencyKey, .ifNoneMatch, .ifRange, "If-Match", "If-Modified-Since",
            "If-Unmodified-Since",
        ]
    }

    /// Completes a draft with the settings of the connection and the call.
    func complete(_ draft: consuming ApiRequest, _ fields: CallFields) throws(ApiConnectorError) -> ApiRequest {
        var request = draft
        let hasType = request.headers.contains(.contentType) || settings.headers.contains(.contentType)
        let routeHost = request.headers[.host]
        mergeHeaders(of: &request)
        do {
            request.body = try request.body.encoded(with: settings.configuration.encoder)
        } catch {
            throw error.completed(request: request)
        }
        fields.add(to: &request, options: settings.headers, hasType: hasType)
        if let conflict = RequestFlaw.conflict(in: request, routeHost: routeHost) {
            throw ApiConnectorError(.invalidRequest, at: .request, conflict, request: request)
        }
        request.delivery = .collected(upTo: settings.configuration.maximumBodyByteCount)
        let draftValues = request.values
        request.values = settings.values
        request.values.joinRefreshes(of: draftValues)
        if let overall = settings.configuration.limits.timeouts.overall {
            request.deadline = settings.configuration.timeSource.now + overall
        }
        if request.context?.hasRoute != true { request.withholdCredentialsIfForeign() }
        try request.checkSendable()
        return request
    }

    /// Merges the header fields of environment, router, connection and call, in this order; a later field wins.
    ///
    /// If the request goes to an origin other than the environment's, credentials of the environment and the connection
    /// are removed.
    private func mergeHeaders(of request: inout ApiRequest) {
        var headers = settings.environment.defaultHeaders
        headers.merge(request.headers)
        headers.merge(settings.configuration.headers)
        // A route has the environment's origin; a URL can have any origin.
        if request.context?.hasRoute != true, request.isToOwnOrigin == false {
            headers.removeSecrets()
        }
        headers.merge(settings.headers)
        request.headers = headers
    }

    private static func bodyInGet(_ detail: String, _ request: ApiRequest) -> ApiConnectorError {
        ApiConnectorError(.invalidRequest, at: .request, detail, request: request)
    }
}
