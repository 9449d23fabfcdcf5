// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// A route's request with the checked URL, before its header fields and body are complete.
    @inlinable init<Router: ApiRouter>(
        of route: Router,
        at url: RouteURL,
        in environment: Router.EnvironmentType
    ) throws(ApiConnectorError) {
        try self.init(of: route, RouteProperties(of: route), at: url, in: environment)
    }

    @usableFromInline init<Router: ApiRouter>(
        of route: Router,
        _ properties: RouteProperties,
        at url: RouteURL,
        in environment: Router.EnvironmentType
    ) throws(ApiConnectorError) {
        if let flaw = EnvironmentProperties.flaw(of: environment) {
            throw .unusable(property: flaw, of: route, url.url, at: .url)
        }
        let datedURL = url.dated
        let url = try url.checked(for: route)
        guard let method = properties.method else {
            throw .unusable(
                property: UnusableProperty.text("method", Router.MethodType.self, "HTTPMethod"),
                of: route,
                url
            )
        }
        guard let headers = properties.headers else {
            throw .unusable(
                property: UnusableProperty.text("headers", Router.HeadersType.self, "HTTPHeaders"),
                of: route,
                url
            )
        }
        guard let body = properties.body else {
            throw .unusable(
                property: UnusableProperty.text("body", Router.BodyType.self, "RequestBody"),
                of: route,
                url
            )
        }
        self.init(url: url, method: method, headers: headers, body: body)
        begin(CallContext(route: route, environment: environment, datedURL: datedURL))
        if method == .get, !body.isEmpty, !route.allowsBodyInGet {
            let name = route.routeName
            throw .bodyInGet(
                "route \(name): its method is GET, but it has a body; set its method, or set allowsBodyInGet",
                self
            )
        }
    }

    /// The request for a URL that a server returned, before its header fields and body are complete.
    init(
        at url: URL,
        _ method: HTTPMethod,
        _ body: RequestBody,
        from environment: some ApiEnvironment
    ) throws(ApiConnectorError) {
        self.init(url: url.absoluteURL, method: method, body: body)
        begin(CallContext(environment: environment))
        if method == .get, !body.isEmpty {
            throw .bodyInGet("its method is GET, but it has a body; set its method", self)
        }
    }

    /// Adds the route and the header fields of the first page to a request for a following page of the same origin.
    ///
    /// Fields that describe the first page's body, and conditions and ranges for the first page, are not added.
    mutating func continuePages(of route: some ApiRouter, in environment: some ApiEnvironment) {
        begin(CallContext(pageRoute: route, environment: environment))
        var fields = RouteProperties(of: route).headers ?? HTTPHeaders()
        for name in HTTPHeaders.Name.fieldsOfABody + Self.fieldsOfOneResource { fields.remove(name) }
        headers = fields
    }

    private static var fieldsOfOneResource: [HTTPHeaders.Name] {
        [
            .range, .idempotencyKey, .ifNoneMatch, .ifRange, "If-Match", "If-Modified-Since",
            "If-Unmodified-Since",
        ]
    }
}

extension ApiConnectorError {
    fileprivate static func bodyInGet(_ detail: String, _ request: ApiRequest) -> ApiConnectorError {
        ApiConnectorError(.invalidRequest, at: .request, detail, request: request)
    }
}
