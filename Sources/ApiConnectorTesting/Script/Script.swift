// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// What a backend answers in one test, who asked for it, and what is wrong about that.
///
/// ```swift
/// let script = Script(for: BlogRouter.self, in: .test)
/// script.on(.me).answer(.status(503)).answer(Author.sample)
/// let blog = BlogConnection(environment: .test, provider: TestConnector(script))
/// ```
///
/// It is strict: a request without an answer, one answer too few and an answer that nobody asks for are issues, which
/// ``end(waitingUpTo:)`` returns, and which a test scope of ApiConnectorTestScopes records as the test's failures.
public final class Script<Router: ApiRouter>: ExchangeSource, ScriptOwner {
    /// Where the backend is.
    public let environment: Router.EnvironmentType

    /// The configuration of the connections that it answers.
    public let configuration: ConnectionConfiguration

    let engine: ScriptEngine

    /// Whether its configuration has coders; otherwise it takes those of the connection that asks.
    private let hasOwnCoders: Bool

    /// Makes a script without answers; made inside a test scope, it ends with it.
    ///
    /// - Parameters:
    ///   - router: The router's type, where nothing else names it.
    ///   - environment: Where the backend is, as in the connection.
    ///   - configuration: That of the connection. Where it has no coders, the script takes those of the connection that
    ///     asks, and checks bodies that are given as JSON or files with Foundation's.
    ///   - fileID: Where it is made; left out.
    ///   - filePath: Where it is made; left out.
    ///   - line: Where it is made; left out.
    public init(
        for router: Router.Type = Router.self,
        in environment: Router.EnvironmentType,
        configuration: ConnectionConfiguration? = nil,
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line
    ) {
        self.environment = environment
        self.configuration = configuration ?? ConnectionConfiguration()
        hasOwnCoders = configuration?.hasOwnCoders ?? false
        engine = ScriptEngine(at: CodeLocation(fileID, filePath, line))
        ScriptScope.current?.add(engine)
    }

    /// Makes a script for a connection's environment and configuration; made inside a test scope, it ends with it.
    ///
    /// ```swift
    /// let script = Script(for: BlogConnection())
    /// let blog = BlogConnection(provider: TestConnector(script))
    /// ```
    ///
    /// - Parameters:
    ///   - connection: The connection whose requests it answers, whatever its provider is.
    ///   - fileID: Where it is made; left out.
    ///   - filePath: Where it is made; left out.
    ///   - line: Where it is made; left out.
    public convenience init<Connection: ApiConnectionType>(
        for connection: Connection,
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line
    ) where Connection.RouterType == Router {
        self.init(
            in: connection.environment,
            configuration: connection.configuration,
            fileID: fileID,
            filePath: filePath,
            line: line
        )
    }

    /// Not to be called: a script needs the environment of its connection.
    @available(*, unavailable, message: "name the environment, as in Script(for: Blog.self, in: .production)")
    public convenience init(for router: Router.Type) {
        preconditionFailure("name the environment, as in Script(for: Blog.self, in: .production)")
    }

    // MARK: - Declaring

    /// The answers to the request that a route builds: its method, origin, path, query, header fields and body.
    ///
    /// Header fields that the connection or a wrapper adds are free, and so is a body that comes from a file, from parts or
    /// from a stream; look at ``RecordedRequest/body`` for these.
    ///
    /// - Parameters:
    ///   - route: What is asked for.
    ///   - type: What each body of an answer with status 2xx has to decode as; unchecked by default.
    ///   - fileID: Where it is declared; left out.
    ///   - filePath: Where it is declared; left out.
    ///   - line: Where it is declared; left out.
    @discardableResult
    public func on(
        _ route: Router,
        as type: (any (Decodable & Sendable).Type)? = nil,
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line
    ) -> ScriptedAnswers<Router> {
        declare(type, CodeLocation(fileID, filePath, line)) { (api) throws(ApiConnectorError) in
            try api.request(at: route)
        }
    }

    /// The answers to the request that a call builds, whose bodies have to decode as the call's value.
    ///
    /// - Parameters:
    ///   - call: What is asked for; a call without a value is answered unchecked.
    ///   - fileID: Where it is declared; left out.
    ///   - filePath: Where it is declared; left out.
    ///   - line: Where it is declared; left out.
    @discardableResult
    public func on<Value>(
        call: ApiCall<Router, Value>,
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line
    ) -> ScriptedAnswers<Router> {
        let type = Value.self as? any (Decodable & Sendable).Type
        return declare(type, CodeLocation(fileID, filePath, line)) { (api) throws(ApiConnectorError) in
            try api.request(call)
        }
    }

    /// The answers to the requests of every route that a closure picks.
    ///
    /// ```swift
    /// script.on { if case .posts = $0 { true } else { false } }.answer([Post.sample])
    /// ```
    ///
    /// - Parameters:
    ///   - type: What each body of an answer with status 2xx has to decode as; unchecked by default.
    ///   - fileID: Where it is declared; left out.
    ///   - filePath: Where it is declared; left out.
    ///   - line: Where it is declared; left out.
    ///   - isMeant: Whether a route is meant; called once for each request.
    @discardableResult
    public func on(
        as type: (any (Decodable & Sendable).Type)? = nil,
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        _ isMeant: @escaping @Sendable (Router) -> Bool
    ) -> ScriptedAnswers<Router> {
        let place = CodeLocation(fileID, filePath, line)
        return declare(.routes(at: place, isMeant), type, place)
    }

    /// The answers to the requests that all of some matchers fit.
    ///
    /// - Parameters:
    ///   - matchers: What the request has to be; what they do not name is free.
    ///   - type: What each body of an answer with status 2xx has to decode as; unchecked by default.
    ///   - fileID: Where it is declared; left out.
    ///   - filePath: Where it is declared; left out.
    ///   - line: Where it is declared; left out.
    @discardableResult
    public func on(
        matching matchers: RequestMatcher...,
        as type: (any (Decodable & Sendable).Type)? = nil,
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line
    ) -> ScriptedAnswers<Router> {
        declare(.all(matchers), type, CodeLocation(fileID, filePath, line))
    }

    private typealias Connection = NetworkConnector<TestConnector<ClosureResponses>, Router>

    /// The answers to the request that the connection would send.
    private func declare(
        _ type: (any (Decodable & Sendable).Type)?,
        _ place: CodeLocation,
        _ request: @escaping @Sendable (Connection) throws(ApiConnectorError) -> ApiRequest
    ) -> ScriptedAnswers<Router> {
        // Requests are only made: what the provider answers is never asked.
        let connection = Connection(
            environment: environment,
            provider: TestConnector { _ in .never },
            configuration: configuration
        )
        do throws(ApiConnectorError) {
            let matcher = RequestMatcher.request(try request(connection)) { [hasOwnCoders] encoder in
                guard !hasOwnCoders else { return nil }
                var configuration = connection.configuration
                configuration.encoder = encoder
                let asking = Connection(
                    environment: connection.environment,
                    provider: connection.provider,
                    configuration: configuration
                )
                return try? request(asking)
            }
            return declare(matcher, type, place)
        } catch {
            engine.add(.unfit, "The route declared at \(place) makes no request. \(error)", at: place)
            return declare(.satisfying("has a route that makes no request") { _ in false }, type, place)
        }
    }

    private func declare(
        _ matcher: RequestMatcher,
        _ type: (any (Decodable & Sendable).Type)?,
        _ place: CodeLocation
    ) -> ScriptedAnswers<Router> {
        let index = engine.declare(Declaration(matcher: matcher, place: place))
        return ScriptedAnswers(
            engine: engine,
            index: index,
            coding: CannedCoding(configuration: configuration, hasOwnCoders: hasOwnCoders, type: type),
            name: matcher.description
        )
    }

    // MARK: - Answering

    /// The declared answer, once for each request, for your own source that returns it.
    ///
    /// The request counts as answered then. `TestConnector(script)` records the end of its delivery, such as a cancel.
    ///
    /// - Throws: `ApiConnectorError` of kind `.unmatched` for a request without an answer, with the nearest ones and
    ///   what differs.
    public func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        try await given(to: request).withoutExchange(for: request)
    }

    func given(to request: ApiRequest) async throws -> GivenResponse { try await engine.answer(to: request) }

    var rootURL: URL { environment.rootURL }

    var timeSource: any TimeSource { configuration.timeSource }

    // MARK: - Judging

    /// What is held against the test so far; without unused answers, which only the end can tell.
    public var issues: [TestIssue] { engine.issues(includingUnused: false) }

    /// Ends the script by hand, where no test scope does: it answers nobody any more.
    ///
    /// It waits for the requests under way first; those that wait for a limit of time or a release are stopped.
    ///
    /// - Parameter limit: The longest wait for requests under way; one second by default.
    /// - Returns: Everything held against the test, unused answers included.
    public func end(waitingUpTo limit: Duration = .seconds(1)) async -> [TestIssue] {
        await engine.end(scope: "the script made at \(engine.place)", waitingUpTo: limit, includingUnused: true)
    }
}
