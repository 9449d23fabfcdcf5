// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ApiConnectorTraffic
import ForeignWrappers

extension MicroCase {
    private static let count = 1000

    static var routing: [MicroCase] {
        let route = MicroRouter.page(author: "jane-doe", slug: "notes-on-routing")
        let text = "https://api.example.com:443/authors/jane-doe/posts/notes-on-routing?page=12&order=newest"
        let reference = Reference("URL(string:) of the finished text") {
            for _ in 0..<count { keep(URL(string: text)) }
        }
        return [
            MicroCase("a route's URL, two path values and two query items", against: reference) {
                for _ in 0..<count { keep(route.url(for: .production)) }
            }
        ]
    }

    static var headers: [MicroCase] {
        let fields = [
            ("Date", "Sat, 21 Nov 2026 10:45:29 GMT"), ("Server", "nginx"), ("Content-Type", "application/json"),
            ("Content-Length", "46"), ("Connection", "keep-alive"), ("ETag", "\"5f0c\""), ("Vary", "Accept"),
            ("X-Id", "42"),
        ]
        let reference = Reference("the same in an array of pairs") {
            for _ in 0..<count {
                var headers: [(String, String)] = []
                for field in fields { headers.append(field) }
                keep(headers.first { $0.0.lowercased() == "content-type" }?.1)
            }
        }
        return [
            MicroCase("eight header fields appended and one looked up", against: reference) {
                for _ in 0..<count {
                    var headers = HTTPHeaders()
                    for (name, value) in fields { headers.append(HTTPHeaders.Name(name), value) }
                    keep(headers["content-type"])
                }
            }
        ]
    }

    static var pipelines: [MicroCase] {
        let body = Data(#"{"id":42,"title":"Forty-six bytes, no more.."}"#.utf8)
        let canned = TestConnector { _ in .data(body, headers: ["Content-Type": "application/json"]) }
        let four = Stamped(Stamped(Stamped(Stamped(canned))))
        let reference = Reference("the decoding alone") {
            let decoder = JSONDecoder()
            for _ in 0..<count { keep(try decoder.decode(MicroValue.self, from: body)) }
        }
        func pipeline(_ name: String, _ provider: some DataRequestType) -> MicroCase {
            let api = NetworkConnector(environment: .production, provider: provider, router: MicroRouter.self)
            return MicroCase("a canned response, decoded, \(name)", against: reference) {
                for _ in 0..<count {
                    keep(try await api.value(MicroValue.self, at: .page(author: "jane-doe", slug: "notes-on-routing")))
                }
            }
        }
        return [
            pipeline("no wrapper", canned), pipeline("one wrapper", Stamped(canned)),
            pipeline("eight wrappers", Stamped(Stamped(Stamped(Stamped(four))))),
        ]
    }

    /// Cache hits: the cost of a cache that several instances share.
    static var caches: [MicroCase] {
        let fields: HTTPHeaders = ["Content-Type": "application/json", "Cache-Control": "max-age=31536000"]
        let canned = TestConnector { _ in .data(Data("[]".utf8), headers: fields) }
        func hits(in storage: some CacheStorage) -> @Sendable () async throws -> Void {
            let provider = canned.caching(in: storage)
            let api = NetworkConnector(environment: .production, provider: provider, router: MicroRouter.self)
            return {
                for _ in 0..<count { keep(try await api.data(at: .page(author: "jane-doe", slug: "caches"))) }
            }
        }
        func shared(comparedAfter interval: Duration) -> SharedCacheStorage {
            SharedCacheStorage(
                named: "micro",
                in: MemorySharedState(),
                digestKey: Data(count: 32),
                sealedBy: { $0 },
                openedBy: { $0 },
                refreshInterval: interval
            )
        }
        let reference = Reference("a hit in a memory cache", hits(in: MemoryCacheStorage()))
        return [
            MicroCase(
                "a hit in the memory of a shared cache",
                against: reference,
                hits(in: shared(comparedAfter: .seconds(3600)))
            ),
            MicroCase(
                "a hit in a shared cache, in a store in the same process",
                against: reference,
                hits(in: shared(comparedAfter: .zero))
            ),
        ]
    }
}

private struct MicroValue: Decodable, Sendable {
    let id: Int
    let title: String
}

private enum MicroEnvironment: String, ApiEnvironment {
    case production = "api.example.com"

    var scheme: HTTPScheme { .https }
}

private enum MicroRouter: ApiRouter {
    typealias EnvironmentType = MicroEnvironment

    case page(author: String, slug: String)

    var path: ApiPath {
        switch self {
        case .page(let author, let slug): "/authors/\(author)/posts/\(slug)"
        }
    }

    var queryItems: [URLQueryItem]? {
        [URLQueryItem(name: "page", value: "12"), URLQueryItem(name: "order", value: "newest")]
    }
}
