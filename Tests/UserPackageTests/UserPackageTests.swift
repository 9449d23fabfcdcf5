// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// A user's package: a router with all its members, an own connection type, an own wrapper and a canned test.
import ApiConnector
import ApiConnectorTesting
import Synchronization
import Testing

struct NoteServer: ApiEnvironment {
    let host: String
    var scheme: HTTPScheme { .https }
    var basePath: String { "/v1" }

    static let production = NoteServer(host: "notes.example.com")
}

struct Note: ApiModel, Equatable {
    let id: Int
    let text: String
}

/// The backend's own error.
struct NoteFailure: ApiModel, Equatable, Error {
    let reason: String
}

enum NoteRouter: ApiRouter {
    typealias EnvironmentType = NoteServer
    typealias EnvelopeType = BareEnvelope<NoteFailure>

    case notes(tag: String)
    case note(title: String)
    case add(Note)

    var path: ApiPath {
        switch self {
        case .notes, .add: "/notes"
        case .note(let title): "/notes/\(title)"
        }
    }

    var queryItems: [URLQueryItem]? {
        if case .notes(let tag) = self { [URLQueryItem(name: "tag", value: tag)] } else { nil }
    }

    var method: HTTPMethod {
        if case .add = self { .post } else { .get }
    }

    var headers: HTTPHeaders { ["Accept-Language": "en"] }

    var body: RequestBody {
        if case .add(let note) = self { .json(note) } else { .empty }
    }
}

/// A connection type with the user's own calls.
struct NoteConnection<Provider: DataRequestType>: ApiConnectionType {
    typealias RouterType = NoteRouter
    typealias RequestType = Provider

    let environment: NoteServer
    let provider: Provider
    var configuration = ConnectionConfiguration()

    func note(_ title: String) async throws(ApiConnectorError) -> Note {
        try await value(Note.self, at: .note(title: title))
    }
}

/// Adds a field to each request, and counts the requests.
struct Numbered<Wrapped: DataRequestType>: DataRequestType {
    let wrapped: Wrapped
    let counter: RequestCounter

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        var request = request
        request.headers["X-Number"] = "\(counter.next())"
        return try await wrapped.response(for: request)
    }
}

final class RequestCounter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

extension DataRequestType {
    func numbering(by counter: RequestCounter) -> some DataRequestType {
        Numbered(wrapped: self, counter: counter)
    }
}

@Suite(.timeLimit(.minutes(10))) struct UserPackageTests {
    private let note = Note(id: 1, text: "Tea / Café")

    /// A connection whose backend gives the same answer to each request.
    private func connection(
        _ response: TestConnectorResponse,
        _ check: @escaping @Sendable (ApiRequest) -> Void = { _ in }
    ) -> NoteConnection<some DataRequestType> {
        let backend = TestConnector { request in
            check(request)
            return response
        }
        return NoteConnection(environment: .production, provider: backend.numbering(by: RequestCounter()))
    }

    @Test func aCannedTestReadsAValue() async throws {
        let api = connection(.json(note)) { request in
            #expect(request.url.absoluteString == "https://notes.example.com:443/v1/notes/tea%20%2F%20caf%C3%A9")
            #expect(request.headers["X-Number"] == "1")
            #expect(request.headers["Accept-Language"] == "en")
        }
        #expect(try await api.note("tea / café") == note)
    }

    @Test func anOwnConnectionHasAllCalls() async throws {
        let api = connection(.json(note))
        #expect(try await api.value(Note.self, at: .note(title: "a")) == note)
        #expect(try await JSONDecoder().decode(Note.self, from: api.data(at: .note(title: "a"))) == note)
        #expect(try await api.response(at: .note(title: "a")).status == 200)
        #expect(try await api.response(of: Note.self, at: .note(title: "a")).value == note)
        try await api.send(at: .add(note))
        var elements: [Note] = []
        for try await element in api.stream(of: Note.self, at: .note(title: "a")) { elements.append(element) }
        for try await page in api.pages(of: Note.self, from: .note(title: "a")) { elements.append(page) }
        #expect(elements == [note, note])
    }

    @Test func aDownloadWritesItsFile() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        for try await _ in connection(.json(note)).download(at: .note(title: "a"), to: file) {}
        #expect(try JSONDecoder().decode(Note.self, from: Data(contentsOf: file)) == note)
    }

    @Test func callsHaveCompletionHandlers() async throws {
        let api = connection(.json(note))
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Note, ApiConnectorError>, Never>) in
            api.value(at: .note(title: "a"), isolation: nil) { continuation.resume(returning: $0) }
        }
        #expect(try result.get() == note)
    }

    @Test func anOutcomeHasThreeStates() async {
        let found = await connection(.json(note)).outcome(Note.self, at: .note(title: "a"))
        if case .success(let value) = found { #expect(value == note) } else { Issue.record("no value: \(found)") }
        let refusal = TestConnectorResponse.json(NoteFailure(reason: "closed"), status: 409)
        let refused = await connection(refusal).outcome(Note.self, at: .note(title: "a"))
        if case .backendFailure(let failure, let head) = refused {
            #expect(failure == NoteFailure(reason: "closed"))
            #expect(head.status == 409)
        } else {
            Issue.record("not the backend's own error: \(refused)")
        }
        let lost = TestConnectorResponse.failure(URLError(.networkConnectionLost))
        let failed = await connection(lost).outcome(Note.self, at: .note(title: "a"))
        if case .failure(let error) = failed {
            #expect(error.kind == .connectionLost)
        } else {
            Issue.record("not a failure to communicate: \(failed)")
        }
    }

    @Test(
        arguments: [
            (.status(503), .unacceptableStatus),
            (.text("no JSON", mediaType: .json), .decodingFailed),
            (.failure(URLError(.cannotConnectToHost)), .cannotConnect),
        ] as [(TestConnectorResponse, ApiConnectorError.Kind)]
    )
    func errorsHaveKinds(_ response: TestConnectorResponse, _ kind: ApiConnectorError.Kind) async {
        let error = await #expect(throws: ApiConnectorError.self) { try await connection(response).note("a") }
        #expect(error?.kind == kind)
    }

    @Test func eachTransportFitsTheConnection() {
        let url = "https://notes.example.com:443/v1/notes?tag=tea"
        func address(over provider: some DataRequestType) -> String {
            NoteConnection(environment: .production, provider: provider).url(at: .notes(tag: "tea")).absoluteString
        }
        #expect(address(over: SystemProvider()) == url)
        #expect(address(over: URLSessionProvider()) == url)
        #expect(address(over: SystemProvider().retrying().timeLimiting(attempt: .seconds(5))) == url)
    }
}
