// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import MicroCases

/// Builds a route's URL with two path values and two query items, compared with one URL(string:) of the finished text.
struct G07RouteURL: Goal {
    let number = "G7"
    let title = "a route's URL with two path values and two query items"

    func measure(on bench: Bench) async throws -> Outcome {
        let route = CatalogRouter.page(author: "jane-doe", slug: "notes-on-routing", number: "12", order: "newest")
        let text = "https://api.example.com:443/authors/jane-doe/posts/notes-on-routing?page=12&order=newest"
        guard route.url(for: .production).absoluteString == text else {
            throw WrongFixture(description: "the route's URL is \(route.url(for: .production))")
        }
        let count = bench.isQuick ? 100_000 : 500_000
        var contest = Contest()
        contest.add("ours") { Rate.nanoseconds(count: count) { keep(route.url(for: .production)) } }
        contest.add("URL(string:)") { Rate.nanoseconds(count: count) { keep(URL(string: text)) } }
        let (author, slug, page, order) = ("jane-doe", "notes-on-routing", "12", "newest")
        contest.add("by hand") {
            Rate.nanoseconds(count: count) {
                keep(
                    URL(
                        string:
                            "https://api.example.com:443/authors/\(author)/posts/\(slug)?page=\(page)&order=\(order)"
                    )
                )
            }
        }
        let samples = try await contest.run(rounds: bench.rounds)

        var outcome = Outcome(goal: number, title: title)
        outcome.add(Figure("ours", samples.median("ours"), .nanoseconds))
        outcome.add(Figure("URL(string:)", samples.median("URL(string:)"), .nanoseconds))
        outcome.add(
            Figure("interpolated by hand, nothing encoded, ×", samples.ratio("by hand", to: "URL(string:)"), .times)
        )
        outcome.add(Check("× URL(string:)", samples.ratio("ours", to: "URL(string:)"), atMost: 1.5))
        return outcome
    }
}

private enum CatalogEnvironment: String, ApiEnvironment {
    case production = "api.example.com"

    var scheme: HTTPScheme { .https }
}

private enum CatalogRouter: ApiRouter {
    typealias EnvironmentType = CatalogEnvironment

    case page(author: String, slug: String, number: String, order: String)

    var path: ApiPath {
        switch self {
        case .page(let author, let slug, _, _): "/authors/\(author)/posts/\(slug)"
        }
    }

    var queryItems: [URLQueryItem]? {
        switch self {
        case .page(_, _, let number, let order):
            [URLQueryItem(name: "page", value: number), URLQueryItem(name: "order", value: order)]
        }
    }
}
