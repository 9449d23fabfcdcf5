// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// A matcher as a value.
///
/// A seed sends the value to another process, which makes the matcher from it.
package indirect enum MatcherForm: Codable, Sendable {
    case method(String)
    case path(String)
    case query(String, String)
    case header(String, String)
    case json(JSONValue)
    case form([String: String])
    case part(String, String)
    case body(Data)
    case request(WantedRequest)
    case not(MatcherForm)
    case and(MatcherForm, MatcherForm)
    case or(MatcherForm, MatcherForm)
    case all([MatcherForm])
    /// A closure that gets the request.
    case closure
    /// A closure that gets the route.
    case routeClosure

    /// Makes the matcher.
    ///
    /// For a closure, it is a matcher that matches nothing.
    package var matcher: RequestMatcher {
        switch self {
        case .method(let method): .method(HTTPMethod(rawValue: method))
        case .path(let template): .path(template)
        case .query(let name, let value): .query(name, value)
        case .header(let name, let value): .header(HTTPHeaders.Name(name), value)
        case .json(let part): .json(part)
        case .form(let fields): .form(fields)
        case .part(let name, let text): .part(name, text)
        case .body(let data): .body(data)
        case .request(let wanted): .request(wanted)
        case .not(let form): .not(form.matcher)
        case .and(let one, let other): one.matcher.and(other.matcher)
        case .or(let one, let other): one.matcher.or(other.matcher)
        case .all(let forms): .all(forms.map(\.matcher))
        case .closure, .routeClosure: .satisfying("matches a closure of another process") { _ in false }
        }
    }

    /// Whether the form or a part of it satisfies a condition.
    package func contains(_ isMeant: (MatcherForm) -> Bool) -> Bool {
        switch self {
        case .not(let form): form.contains(isMeant)
        case .and(let one, let other), .or(let one, let other): one.contains(isMeant) || other.contains(isMeant)
        case .all(let forms): forms.contains { $0.contains(isMeant) }
        default: isMeant(self)
        }
    }

    package var isClosure: Bool { if case .closure = self { true } else { false } }

    package var isRouteClosure: Bool { if case .routeClosure = self { true } else { false } }
}

/// The parts of a request that a route builds.
package struct WantedRequest: Codable, Sendable {
    package let method: String
    package let url: URL
    /// The route's own fields, each as name and value.
    let headers: [[String]]
    /// The body; nil for a streamed body, which is not compared.
    let body: Data?
    package let mediaType: String?
}

extension WantedRequest {
    init(_ wanted: ApiRequest, comparingBody isBodyCompared: Bool) {
        self.init(
            method: wanted.method.rawValue,
            url: wanted.url,
            headers: (wanted.route?.declaredHeaders ?? HTTPHeaders()).map { [$0.name.rawValue, $0.value] },
            body: wanted.body.isStreamed || !isBodyCompared ? nil : try? wanted.body.data(),
            mediaType: wanted.body.mediaType?.description
        )
    }
}

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
