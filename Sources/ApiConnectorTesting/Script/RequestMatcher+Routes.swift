// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

extension RequestMatcher {
    /// Matches the request that a connection has built: its method, origin, path, query, body and the route's header
    /// fields.
    ///
    /// Header fields that wrappers or the connection add are ignored. A streamed body is not compared.
    ///
    /// - Parameters:
    ///   - wanted: The request.
    ///   - isBodyCompared: Whether the body is compared; true by default.
    ///   - make: Makes the same request with an encoder; nil if the encoder makes no difference.
    package static func request(
        _ wanted: ApiRequest,
        comparingBody isBodyCompared: Bool = true,
        writtenBy make: (@Sendable (JSONEncoder) -> ApiRequest?)? = nil
    ) -> RequestMatcher {
        let matcher = RequestMatcher.request(WantedRequest(wanted, comparingBody: isBodyCompared))
        guard let make else { return matcher }
        return RequestMatcher(matcher.description, matcher.form) { sent in
            guard let encoder = sent.request.encoder, let wanted = make(encoder) else {
                return matcher.differences(sent)
            }
            return RequestMatcher.request(WantedRequest(wanted, comparingBody: isBodyCompared)).differences(sent)
        }
    }

    /// Matches the parts of a request.
    package static func request(_ wanted: WantedRequest) -> RequestMatcher {
        let method = HTTPMethod(rawValue: wanted.method)
        let mediaType = wanted.mediaType.flatMap { MediaType($0) }
        let headers = wanted.headers.compactMap { field in
            field.count == 2 ? RequestMatcher.header(HTTPHeaders.Name(field[0]), field[1]) : nil
        }
        let description = ApiRequest(url: wanted.url, method: method).description
        return RequestMatcher(description, .request(wanted)) { sent in
            var found: [Difference] = []
            if origin(wanted.url) != origin(sent.url) {
                found.append(Difference("server", wanted: origin(wanted.url), sent: origin(sent.url), weight: 4))
            }
            found += RequestMatcher.method(method).differences(sent)
            found += pathDifferences(encodedSegments(of: wanted.url), wanted.url.path(percentEncoded: true), sent.url)
            found += queryDifferences(wanted.url, sent.url)
            found += headers.flatMap { $0.differences(sent) }
            if let body = wanted.body { found += bodyDifferences(body, mediaType, sent) }
            return found
        }
    }

    /// Matches the requests of the routes that a closure selects.
    static func routes<Router: ApiRouter>(
        at place: CodeLocation,
        _ isMeant: @escaping @Sendable (Router) -> Bool
    ) -> RequestMatcher {
        RequestMatcher("the routes that the closure at \(place) selects", .routeClosure) { sent in
            guard let route = sent.request.route as? Router else {
                return [
                    Difference(
                        "route",
                        "a route of \(Router.self) was expected, but the request has no route",
                        weight: 3
                    )
                ]
            }
            guard !isMeant(route) else { return [] }
            let name = sent.request.routeName ?? ""
            return [Difference("route", "the closure does not select \"\(name)\"", weight: 3)]
        }
    }

    /// Scheme, host and port.
    ///
    /// A missing port equals the scheme's default port.
    private static func origin(_ url: URL) -> String {
        let scheme = url.scheme?.lowercased() ?? ""
        let port = url.port ?? (scheme == "https" ? 443 : 80)
        return "\(scheme)://\(url.host(percentEncoded: true)?.lowercased() ?? ""):\(port)"
    }

    /// The differences between two queries.
    ///
    /// The names may be in any order, but the values of one name must be in order.
    private static func queryDifferences(_ wanted: URL, _ sent: URL) -> [Difference] {
        func values(_ url: URL) -> [String: [String?]] {
            Dictionary(grouping: queryItems(of: url), by: \.name).mapValues { $0.map(\.value) }
        }
        func text(_ values: [String?]?) -> String? {
            values.map { $0.map { $0 ?? "" }.joined(separator: "\", \"") }
        }
        let wanted = values(wanted), sent = values(sent)
        return Set(wanted.keys).union(sent.keys).sorted().filter { wanted[$0] != sent[$0] }.map { name in
            Difference(
                "query item \(name)",
                wanted: text(wanted[name]),
                sent: text(sent[name]),
                isSecret: Redactor.standard.isSecret(queryItem: name)
            )
        }
    }

    private static func bodyDifferences(_ wanted: Data, _ type: MediaType?, _ sent: RecordedRequest) -> [Difference] {
        guard wanted != sent.body else { return [] }
        if type?.isJSON == true, let wanted = JSONValue(parsing: wanted),
            let sent = JSONValue(parsing: sent.body)
        {
            return JSONComparison(allowsMore: false).differences(wanted, sent)
        }
        return [Difference("body", wanted: shown(wanted, type), sent: shown(sent))]
    }
}
