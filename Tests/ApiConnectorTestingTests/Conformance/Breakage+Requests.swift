// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

extension Breakage {
    static let requests: [Breakage] = [
        .request("joins a repeated request field", caughtBy: "sends a repeated header field once for each value") {
            $0.headers = $0.headers.joined
        },
        .request(
            "keeps the last value of a repeated request field",
            caughtBy: "sends every value of a repeated header field, in order",
            "sends a repeated header field once for each value"
        ) { request in
            for field in request.headers { request.headers[field.name] = field.value }
        },
        .request("sorts the request's fields", caughtBy: "sends header fields in their order") {
            $0.headers = $0.headers.sorted
        },
        .request("leaves out a request field without a value", caughtBy: "sends a header field without a value") {
            request in
            for field in request.headers where field.value.isEmpty { request.headers.remove(field.name) }
        },
        .request(
            "cuts a long request field off",
            caughtBy: "sends a whole header field of 8,000 bytes"
        ) { request in
            for field in request.headers where field.value.utf8.count > 4_096 {
                request.headers[field.name] = String(field.value.prefix(4_096))
            }
        },
        .request(
            "sends what is left of fields that must not be sent",
            caughtBy: "refuses a header field with a line break and sends nothing",
            "refuses a header field whose name is not a token and sends nothing"
        ) { request in
            var headers = HTTPHeaders()
            for field in request.headers { headers.append(field.name, field.value) }
            request.headers = headers
        },
        .request(
            "sends its own name as the user agent",
            caughtBy: "adds no field that the request already has"
        ) {
            $0.headers["User-Agent"] = "broken/1"
        },
        .request(
            "knows the standard methods only",
            caughtBy: "sends a custom method by name",
            "refuses a method that is not a token and sends nothing"
        ) { request in
            let known: [HTTPMethod] = [.get, .head, .post, .put, .patch, .delete, .options]
            if !known.contains(request.method) { request.method = .get }
        },
        .request(
            "has no PATCH",
            caughtBy: "sends every method by name",
            "sends a body with its type for every method"
        ) {
            request in
            guard request.method == .patch else { return }
            request.method = .post
            request.body = .empty
        },
        .request("decodes the path", caughtBy: "sends path and query as encoded in the URL") {
            $0.url = $0.url.replacing("%2F", by: "/")
        },
        .request("takes a plus for a space", caughtBy: "sends path and query as encoded in the URL") {
            $0.url = $0.url.replacing("+", by: "%20")
        },
        .request("sends the fragment", caughtBy: "never sends the fragment") {
            $0.url = $0.url.replacing("#", by: "%23")
        },
        .request("cuts a long target off", caughtBy: "sends a whole target of 4,000 bytes") { request in
            request.url = URL(string: String(request.url.absoluteString.prefix(2_048))) ?? request.url
        },
    ]
}

extension HTTPHeaders {
    /// Each name once, its values joined.
    var joined: HTTPHeaders {
        var joined = self
        for field in self { joined[field.name] = values(field.name).joined(separator: ", ") }
        return joined
    }

    var sorted: HTTPHeaders {
        var sorted = HTTPHeaders()
        let places = enumerated().sorted { one, other in
            let names = (one.element.name.rawValue, other.element.name.rawValue)
            return names.0 == names.1 ? one.offset < other.offset : names.0 < names.1
        }
        for (_, field) in places { sorted.append(field.name, field.value) }
        for field in refused { sorted.append(field.name, field.value) }
        return sorted
    }
}

extension URL {
    fileprivate func replacing(_ text: String, by other: String) -> URL {
        URL(string: absoluteString.replacingOccurrences(of: text, with: other)) ?? self
    }
}
