// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

struct HTTPBinServer: ApiEnvironment {
    let host = "127.0.0.1"
    let port: Int?
}

/// A router for httpbin: a struct with one line per endpoint.
struct HTTPBinRouter: ApiRouter {
    typealias EnvironmentType = HTTPBinServer

    let path: ApiPath
    var method: HTTPMethod = .get
    var queryItems: ApiQuery = .empty
    var headers = HTTPHeaders()
    var body: RequestBody = .empty

    static let get = Self(path: "/get")
    static let uuid = Self(path: "/uuid")
    static let cookies = Self(path: "/cookies")
    static func get(_ query: ApiQuery) -> Self { Self(path: "/get", queryItems: query) }
    static func sending(_ method: HTTPMethod, _ body: RequestBody) -> Self {
        Self(path: "/\(method.rawValue.lowercased())", method: method, body: body)
    }
    static func anything(_ method: HTTPMethod, _ text: String) -> Self {
        Self(path: "/anything/\(text)", method: method)
    }
    static func status(_ code: Int, _ method: HTTPMethod = .get) -> Self {
        Self(path: "/status/\(code)", method: method)
    }
    static func page(_ name: String) -> Self { Self(path: "/\(name)") }
    static func encoded(_ coding: String) -> Self { Self(path: "/\(coding)") }
    static func basic(_ user: String, _ password: String) -> Self { Self(path: "/basic-auth/\(user)/\(password)") }
    static func hidden(_ user: String, _ password: String) -> Self {
        Self(path: "/hidden-basic-auth/\(user)/\(password)")
    }
    static let bearer = Self(path: "/bearer")
    static func digest(_ user: String, _ password: String) -> Self {
        Self(path: "/digest-auth/auth/\(user)/\(password)")
    }
    static func redirect(_ kind: String, _ count: Int) -> Self { Self(path: "/\(kind)/\(count)") }
    static func redirect(to url: String, _ status: Int, _ method: HTTPMethod) -> Self {
        Self(path: "/redirect-to", method: method, queryItems: ["url": url, "status_code": status])
    }
    static func setCookie(_ name: String, _ value: String) -> Self { Self(path: "/cookies/set/\(name)/\(value)") }
    static func stream(_ count: Int) -> Self { Self(path: "/stream/\(count)") }
    static func bytes(_ count: Int, seed: Int) -> Self { Self(path: "/bytes/\(count)", queryItems: ["seed": seed]) }
    static func streamBytes(_ count: Int, seed: Int) -> Self {
        Self(path: "/stream-bytes/\(count)", queryItems: ["seed": seed, "chunk_size": 1000])
    }
    static func range(_ count: Int) -> Self { Self(path: "/range/\(count)") }
    static func drip(_ count: Int) -> Self {
        Self(path: "/drip", queryItems: ["numbytes": count, "duration": 0, "delay": 0])
    }
    static func delay(_ seconds: Int) -> Self { Self(path: "/delay/\(seconds)") }
    static func base64(_ text: String) -> Self { Self(path: "/base64/\(text)") }
    static func image(_ type: String) -> Self { Self(path: "/image", headers: [.accept: type]) }
    static let cache = Self(path: "/cache")
    static func cache(seconds: Int) -> Self { Self(path: "/cache/\(seconds)") }
    static func etag(_ tag: String) -> Self { Self(path: "/etag/\(tag)") }
    static func responseHeaders(_ query: ApiQuery) -> Self { Self(path: "/response-headers", queryItems: query) }
}

/// Httpbin's description of a request.
struct Echo: ApiModel {
    let url: String
    var method: String?
    var args: JSONValue = .null
    var headers: [String: String] = [:]
    var json: JSONValue?
    var form: JSONValue?
    var files: JSONValue?
    var data: String?
}
