// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A stub and spy of a backend for one test: it returns the declared answers, records the requests and reports issues.
///
/// ```swift
/// let script = Script(for: BlogRouter.self, in: .test)
/// script.on(.me).answer(.status(503)).answer(Author.sample)
/// let blog = BlogConnection(environment: .test, provider: TestConnector(script))
/// ```
///
/// A script is strict. A request without an answer and an unused answer are issues. ``end(waitingUpTo:)`` returns the
/// issues, and a test scope of ApiConnectorTestScopes records them as failures of the test.
public final class Script<Router: ApiRouter>: GivenResponseSource, ScriptOwner {
    /// The environment of the backend.
    public let environment: Router.EnvironmentType

    /// The configuration of the connections that the script answers.
    public let configuration: ConnectionConfiguration

    package let engine: ScriptEngine

    /// Whether the configuration has coders; otherwise the calling connection's coders are used.
    private let hasOwnCoders: Bool

    /// Makes a script that has no answers yet.
    ///
    /// If it is made in a test scope, it ends with the scope.
    ///
    /// - Parameters:
    ///   - router: The router's type, if it cannot be inferred.
    ///   - environment: The environment of the backend, as in the connection.
    ///   - configuration: The configuration of the connection. If it has no coders, values are encoded with the coders
    ///     of the calling connection. Bodies that are given as JSON or as files are then checked with Foundation's
    ///     default coders, when they are declared.
    ///   - fileID: The caller's file, filled in by the compiler.
    ///   - filePath: The path of the caller's file, filled in by the compiler.
    ///   - line: The caller's line, filled in by the compiler.
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

    /// Makes a script for a connection's environment and configuration.
    ///
    /// If it is made in a test scope, it ends with the scope.
    ///
    /// ```swift
    /// let script = Script(for: BlogConnection())
    /// let blog = BlogConnection(provider: TestConnector(script))
    /// ```
    ///
    /// - Parameters:
    ///   - connection: The connection whose requests the script answers; its provider is not used.
    ///   - fileID: The caller's file, filled in by the compiler.
    ///   - filePath: The path of the caller's file, filled in by the compiler.
    ///   - line: The caller's line, filled in by the compiler.
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

    /// Unavailable, because a script needs the environment of its connection.
    @available(*, unavailable, message: "name the environment, as in Script(for: Blog.self, in: .production)")
    public convenience init(for router: Router.Type) {
        preconditionFailure("name the environment, as in Script(for: Blog.self, in: .production)")
    }

    // MARK: - Declaring

    /// Declares answers to the request of a route.
    ///
    /// A request matches if it has the same method, origin, path, query, header fields and body. Header fields that the
    /// connection or a wrapper adds are ignored. A body from a file, from parts or from a stream
    /// is not compared; check ``RecordedRequest/body`` instead.
    ///
    /// - Parameters:
    ///   - route: The route.
    ///   - type: The type that the body of each 2xx answer must decode as; unchecked by default.
    ///   - fileID: The caller's file, filled in by the compiler.
    ///   - filePath: The path of the caller's file, filled in by the compiler.
    ///   - line: The caller's line, filled in by the compiler.
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

    /// Declares answers to the request of a call.
    ///
    /// The bodies of the answers must decode as the call's value.
    ///
    /// - Parameters:
    ///   - call: The call; the answers to a call without a value are not checked.
    ///   - fileID: The caller's file, filled in by the compiler.
    ///   - filePath: The path of the caller's file, filled in by the compiler.
    ///   - line: The caller's line, filled in by the compiler.
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

    /// Declares answers to the requests of all routes that a closure selects.
    ///
    /// ```swift
    /// script.on { if case .posts = $0 { true } else { false } }.answer([Post.sample])
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type that the body of each 2xx answer must decode as; unchecked by default.
    ///   - fileID: The caller's file, filled in by the compiler.
    ///   - filePath: The path of the caller's file, filled in by the compiler.
    ///   - line: The caller's line, filled in by the compiler.
    ///   - isMeant: Returns whether a route is selected; called once for each request.
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

    /// Declares answers to the requests that all of the matchers match.
    ///
    /// - Parameters:
    ///   - matchers: The requirements; other parts of the request are ignored.
    ///   - type: The type that the body of each 2xx answer must decode as; unchecked by default.
    ///   - fileID: The caller's file, filled in by the compiler.
    ///   - filePath: The path of the caller's file, filled in by the compiler.
    ///   - line: The caller's line, filled in by the compiler.
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

    /// Declares answers to the request that the connection would send.
    private func declare(
        _ type: (any (Decodable & Sendable).Type)?,
        _ place: CodeLocation,
        _ request: @escaping @Sendable (Connection) throws(ApiConnectorError) -> ApiRequest
    ) -> ScriptedAnswers<Router> {
        // The connection only builds requests; its provider is never called.
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

    /// Returns the declared answer to a request, for your own response source.
    ///
    /// The request then counts as answered. Only `TestConnector(script)` also records how the delivery ends, such as by
    /// a cancel.
    ///
    /// - Throws: `ApiConnectorError` of kind `.unmatched` for a request without an answer, with the nearest
    ///   declarations and their differences.
    public func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        try await given(to: request).withoutExchange()
    }

    package func given(to request: ApiRequest) async throws -> GivenResponse { try await engine.answer(to: request) }

    package var rootURL: URL { environment.rootURL }

    package var timeSource: any TimeSource { configuration.timeSource }

    // MARK: - Judging

    /// The issues so far.
    ///
    /// Unused answers become issues only at the script's end.
    public var issues: [TestIssue] { engine.issues(includingUnused: false) }

    /// Ends a script that is not in a test scope.
    ///
    /// Later requests fail.
    ///
    /// The method first waits for running requests. It does not wait for requests that wait for a timeout or a release,
    /// but stops them.
    ///
    /// - Parameter limit: The longest wait for running requests; one second by default.
    /// - Returns: All issues, including unused answers.
    public func end(waitingUpTo limit: Duration = .seconds(1)) async -> [TestIssue] {
        await engine.end(scope: "the script made at \(engine.place)", waitingUpTo: limit, includingUnused: true)
    }
}

extension Script {
    /// All requests so far, in order of arrival, each with its outcome.
    public var requests: [RecordedRequest] { engine.state.withLock { $0.requests.all } }

    /// Waits for the next request that this method has not returned before.
    ///
    /// - Parameter limit: The longest wait; one minute by default.
    /// - Throws: `CancellationError` if the task is canceled; another error if no request arrives in time.
    public func nextRequest(within limit: Duration = .seconds(60)) async throws -> RecordedRequest {
        let next = Eventual<RecordedRequest>()
        if let early = engine.state.withLock({ $0.requests.next(orTell: next) }) { return early }
        let place = engine.place
        do {
            return try await next.value(within: limit, orSay: "no request reached the script made at \(place)")
        } catch {
            let isWaiting = engine.state.withLock { $0.requests.remove(next) }
            // If the request has already arrived, it counts as returned, so this call must return it.
            if !isWaiting { return await next.value() }
            throw error
        }
    }

    /// All requests as `curl` commands with their outcomes, without secrets.
    ///
    /// Equal requests give equal texts.
    public var transcript: String {
        requests.map { "# \($0.number): \($0.outcome)\n\($0.curlCommand)" }.joined(separator: "\n\n")
    }
}

/// A script whose engine answers requests for other code, such as an adapter, and records the issues of that code.
package protocol ScriptOwner: Sendable {
    var engine: ScriptEngine { get }

    /// The root URL of the script's environment.
    var rootURL: URL { get }

    /// The time source of the script's connections.
    var timeSource: any TimeSource { get }
}

extension ApiEnvironment {
    /// The root URL of the environment's routes: scheme, host, port and base path.
    var rootURL: URL { RootRoute().url(for: self) }
}

private struct RootRoute<EnvironmentType: ApiEnvironment>: ApiRouter {
    var path: String { "/" }
}
