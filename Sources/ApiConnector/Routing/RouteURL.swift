// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A route's URL, and why it must not be sent if it is invalid.
@usableFromInline struct RouteURL {
    @usableFromInline let url: URL

    /// The invalid part and how to fix it; nil for a valid URL.
    let flaw: String?

    /// The router's query; the URL has no query if its value does not encode.
    private let query: ApiQuery

    /// Reads the router and the environment.
    ///
    /// For `value(_:at:)`, this happens in the user's module, where their types are known. Other calls read them through
    /// their protocols, which takes a third of the time of building the URL.
    ///
    /// - Parameter encoder: Writes the dates in the query; nil, the default, writes them in ISO 8601.
    @inlinable init<Router: ApiRouter>(
        of route: Router,
        in environment: Router.EnvironmentType,
        datesBy encoder: JSONEncoder? = nil
    ) {
        self.init(
            scheme: environment.scheme,
            host: environment.host,
            port: environment.port,
            basePath: environment.basePath,
            path: route.path.apiPath,
            isPathText: Router.PathType.self == String.self,
            query: ApiQuery(property: route.queryItems),
            datesBy: encoder
        )
    }

    @usableFromInline init(
        scheme: HTTPScheme,
        host: String,
        port: Int?,
        basePath: String,
        path: ApiPath,
        isPathText: Bool,
        query: ApiQuery,
        datesBy encoder: JSONEncoder?
    ) {
        self.query = if let encoder, query.isDated { query.written(with: encoder) } else { query }
        let text = URLText(
            scheme: scheme,
            host: host,
            port: port,
            basePath: basePath,
            path: path,
            query: self.query.urlQuery
        )
        // The text only contains characters allowed in URLs, so the file URL is never used.
        url = URL(string: text.text) ?? URL(fileURLWithPath: "/")
        if let hostFlaw = text.hostFlaw {
            flaw = hostFlaw
        } else if let port, !(1...65535 ~= port) {
            flaw = "the environment's port \(port) is not valid; use 1 to 65535, or nil to leave it out"
        } else if let dots = text.dots {
            flaw = "\(dots.part) has a segment \"\(dots.segment)\", which servers resolve to another path"
        } else if path.hasEmptyValue {
            flaw =
                "a value in its path is empty, which makes the path that of another resource; write \\(allowingEmpty:) "
                + "if that is intended"
        } else if isPathText, path.start.hasEmptySegment {
            // In plain text, a value cannot be distinguished from the router's own text.
            flaw =
                "its path \"\(path.start)\" has an empty segment, probably from an empty value; declare path as "
                + "ApiPath, which encodes values and allows \"//\""
        } else {
            flaw = nil
        }
    }

    /// The URL of a route.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.invalidRequest` with the route and the invalid part; of kind
    ///   `.encodingFailed` if the query's value does not encode.
    func checked(for route: some ApiRouter) throws(ApiConnectorError) -> URL {
        func request() -> ApiRequest {
            ApiRequest(url: url, method: HTTPMethod(property: route.method) ?? .get, route: route)
        }
        if let flaw {
            throw ApiConnectorError(.invalidRequest, at: .url, "route \(route.routeName): \(flaw)", request: request())
        }
        if let error = query.error {
            // A property of an unusable type has this kind.
            throw error.kind == .invalidRequest
                ? .unusable(property: error.detail, of: route, url, at: .url) : error.completed(request: request())
        }
        return url
    }
}

extension String {
    /// Whether two slashes follow each other.
    ///
    /// Foundation's `contains(_:)` would take as long as all other steps of building a route's URL.
    fileprivate var hasEmptySegment: Bool {
        var isAfterSlash = false
        for byte in utf8 {
            let isSlash = byte == UInt8(ascii: "/")
            if isSlash, isAfterSlash { return true }
            isAfterSlash = isSlash
        }
        return false
    }
}
