// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Benchmark
import ForeignWrappers

/// The parts of a call, each beside a reference that is measured in the same run: compare those two, never runs.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = Benchmark.Configuration(
        metrics: [.wallClock],
        scalingFactor: .kilo,
        maxDuration: .seconds(2)
    )

    Benchmark("URL: a route's, two path values and two query items") { benchmark in
        let route = MicroRouter.page(author: "jane-doe", slug: "notes-on-routing")
        for _ in benchmark.scaledIterations { blackHole(route.url(for: .production)) }
    }

    Benchmark("URL: reference, URL(string:) of the finished text") { benchmark in
        let text = "https://api.example.com:443/authors/jane-doe/posts/notes-on-routing?page=12&order=newest"
        for _ in benchmark.scaledIterations { blackHole(URL(string: text)) }
    }

    Benchmark("Headers: eight fields appended and one looked up") { benchmark in
        for _ in benchmark.scaledIterations {
            var headers = HTTPHeaders()
            for (name, value) in fields { headers.append(HTTPHeaders.Name(name), value) }
            blackHole(headers["content-type"])
        }
    }

    Benchmark("Headers: reference, the same in an array of pairs") { benchmark in
        for _ in benchmark.scaledIterations {
            var headers: [(String, String)] = []
            for field in fields { headers.append(field) }
            blackHole(headers.first { $0.0.lowercased() == "content-type" }?.1)
        }
    }

    addPipeline("no wrapper", canned)
    addPipeline("one wrapper", Stamped(canned))
    addPipeline("eight wrappers", Stamped(Stamped(Stamped(Stamped(Stamped(Stamped(Stamped(Stamped(canned)))))))))

    Benchmark("Pipeline: reference, the decoding alone") { benchmark in
        let decoder = JSONDecoder()
        for _ in benchmark.scaledIterations { blackHole(try decoder.decode(MicroValue.self, from: body)) }
    }
}

private let body = Data(#"{"id":42,"title":"Forty-six bytes, no more.."}"#.utf8)
private let canned = TestConnector { _ in .data(body, headers: ["Content-Type": "application/json"]) }
private let fields = [
    ("Date", "Sat, 21 Nov 2026 10:45:29 GMT"), ("Server", "nginx"), ("Content-Type", "application/json"),
    ("Content-Length", "46"), ("Connection", "keep-alive"), ("ETag", "\"5f0c\""), ("Vary", "Accept"), ("X-Id", "42"),
]

private func addPipeline(_ name: String, _ provider: some DataRequestType) {
    let api = NetworkConnector(environment: .production, provider: provider, router: MicroRouter.self)
    Benchmark("Pipeline: a canned response, decoded, \(name)") { benchmark in
        for _ in benchmark.scaledIterations {
            blackHole(try await api.value(MicroValue.self, at: .page(author: "jane-doe", slug: "notes-on-routing")))
        }
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
