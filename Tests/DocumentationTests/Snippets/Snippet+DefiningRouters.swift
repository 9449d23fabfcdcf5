// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

enum DefiningRouters {
    enum Server: String, ApiEnvironment {
        case localhost
        case production = "api.example.com"

        var scheme: HTTPScheme { self == .localhost ? .http : .https }
        var port: Int? { self == .localhost ? 8080 : nil }
        var basePath: String { "/v1" }
        var defaultHeaders: HTTPHeaders { ["User-Agent": "Notes/1.0"] }
    }

    struct Backend: ApiEnvironment {
        let host: String
        let scheme: HTTPScheme
        let port: Int?
    }

    enum Notes: ApiRouter {
        typealias EnvironmentType = Server
        case note(folder: String, number: Int)
        case search(String)
        case list(Filter)
        case file(at: String)

        var path: ApiPath {
            switch self {
            case .note(let folder, let number): "/folders/\(folder)/notes/\(number)"
            case .search: "/search"
            case .list: "/notes"
            case .file(let path): ApiPath(alreadyEncoded: path)
            }
        }

        var queryItems: ApiQuery {
            switch self {
            case .search(let text): ["q": text]
            case .list(let filter): .encoding(filter)
            default: .empty
            }
        }
    }

    struct Tasks: ApiRouter {
        typealias EnvironmentType = Server
        let path: ApiPath
        var method: HTTPMethod = .get
        var queryItems: ApiQuery = .empty
        var body: RequestBody = .empty

        static let all = Tasks(path: "/tasks")
        static func task(_ id: Int) -> Tasks { Tasks(path: "/tasks/\(id)") }
        static func page(_ number: Int) -> Tasks { Tasks(path: "/tasks", queryItems: ["page": number]) }
        static func create(_ draft: Draft) -> Tasks { Tasks(path: "/tasks", method: .post, body: .json(draft)) }
        static func delete(_ id: Int) -> Tasks { Tasks(path: "/tasks/\(id)", method: .delete) }
    }

    @Test static func anEndpointIsOneLine() async throws {
        #expect(Tasks.page(2).url(for: .production).absoluteString == "https://api.example.com/v1/tasks?page=2")
        let api = NetworkConnector(
            environment: .production,
            provider: TestConnector { .json([$0.routeName ?? "", $0.method.rawValue]) },
            router: Tasks.self
        )
        #expect(try await api.value([String].self, at: .delete(7)) == ["/tasks/{}", "DELETE"])
    }

    static func asksTasks() async throws(ApiConnectorError) {
        let api = NetworkConnector<SystemProvider, Tasks>(environment: .production)
        try await api.send(at: .create(Draft(title: "Tea")))
        try await api.send(at: .delete(7))
    }

    static func uploads(
        _ api: NetworkConnector<SystemProvider, Tasks>,
        to upload: URL,
        _ archive: URL
    ) async throws(ApiConnectorError) {
        try await api.send(at: upload, method: .put, body: .file(archive))
    }

    enum Health: String, ApiRouter {
        typealias EnvironmentType = Server
        case live = "/health/live"
        case ready = "/health/ready"
    }

    struct Filter: ApiModel {
        var folder: String?
        var tags: [String] = []
        var isOpen = true
    }

    @Test static func showsWhatIsSent() throws {
        let note = Notes.note(folder: "tea / café", number: 7).url(for: .localhost)
        #expect(note.absoluteString == "http://localhost:8080/v1/folders/tea%20%2F%20caf%C3%A9/notes/7")
        let search = Notes.search("50% & more+").url(for: .production)
        #expect(search.absoluteString == "https://api.example.com/v1/search?q=50%25%20%26%20more%2B")
        let list = Notes.list(Filter(tags: ["a", "b"])).url(for: .production)
        #expect(list.absoluteString == "https://api.example.com/v1/notes?tags=a&tags=b&isOpen=true")
        func query(_ filter: Filter, _ encoding: FormEncoding = .standard) -> String? {
            Tasks(path: "/tasks", queryItems: .encoding(filter, as: encoding)).url(for: .production).query()
        }
        #expect(query(Filter(folder: "a b")) == "folder=a%20b&isOpen=true")
        #expect(query(Filter(tags: ["a", "b"]), FormEncoding(arrays: .comma)) == "tags=a%2Cb&isOpen=true")
        #expect(query(Filter(), FormEncoding(booleans: .oneZero)) == "isOpen=1")
        let page: Int? = nil
        let left: ApiQuery = page.map { ["page": $0] } ?? .empty
        #expect(left.items.isEmpty)
        let api = NetworkConnector<SystemProvider, Notes>(
            environment: .production,
            configuration: ConnectionConfiguration(headers: ["Accept-Language": "en"])
        )
        let request = try api.request(at: .search("tea"), options: CallOptions(headers: ["Accept-Language": "de"]))
        #expect(request.headers[.userAgent] == "Notes/1.0")
        #expect(request.headers["Accept-Language"] == "de")
    }

    static func follows(_ link: URL) async throws {
        let api = NetworkConnector<SystemProvider, Notes>(environment: .production)
        let data = try await api.data(at: link)
        _ = data
    }
}
