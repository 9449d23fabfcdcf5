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
