// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
public import ApiConnectorTesting

/// Answers the requests of a `URLSession` from a script, for code that uses a session instead of a provider.
///
/// ```swift
/// let bridge = try SessionBridge(script)
/// let pugs = PugClient(session: bridge.session)
/// let other = OtherClient(configuration: bridge.configuration)
/// ```
///
/// Nothing is registered globally: the session's `protocolClasses` name a class that no other session has. The bridge
/// answers as long as the session or the bridge exists. After ``end()``, or after the script has ended or was released,
/// each request fails with an error that names the reason.
///
/// A redirect is delivered, not followed. The bridge refuses an answer that a session cannot deliver, and names the
/// line where the answer was declared. The guide "Mocking code that you cannot change" lists such answers.
public final class SessionBridge: Sendable {
    /// How a session on Linux gets the bodies of answers.
    ///
    /// On Apple's systems, bodies always arrive in chunks as declared.
    public enum BodyDelivery: Sendable, Hashable {
        /// In one piece, the default. From a body in chunks, a completion handler and an `async` call would get only
        /// the last chunk.
        case whole
        /// In chunks as declared, for a session whose delegate gets the data. Do not use completion handlers with it.
        case inChunks
    }

    private let source: URLSessionConfiguration
    private let entry: BridgeEntry

    /// A session with ``configuration``, without a delegate.
    public let session: URLSession

    /// Makes a bridge.
    ///
    /// - Parameters:
    ///   - responses: A script, or any other source of responses.
    ///   - configuration: The configuration to start from; ephemeral by default. Its credential storage and its cache
    ///     are not used.
    ///   - delivery: How bodies are delivered on Linux; ``BodyDelivery/whole`` by default.
    /// - Throws: ``UnsupportedScriptError`` for a script with answers that a session cannot deliver; an
    ///   `ApiConnectorError` for the configuration of a background session, whose requests another process sends.
    public init(
        _ responses: some ResponseSource,
        configuration: URLSessionConfiguration = .ephemeral,
        delivery: BodyDelivery = .whole
    ) throws {
        guard configuration.identifier == nil else {
            throw ApiConnectorError(
                .invalidRequest,
                "a background session cannot be answered from a script, because another process sends its requests; "
                    + "give the code under test another kind of configuration"
            )
        }
        let limits = AdapterLimits.session(delivery)
        let owner = responses as? any ScriptOwner
        if let owner { try limits.attach(to: owner.engine) }
        source = configuration.copy() as? URLSessionConfiguration ?? configuration
        entry = BridgeEntry(
            responses: AdaptedResponses(responses, AnswerDelivery(limits: limits)),
            timeSource: owner?.timeSource ?? .system,
            headers: HTTPHeaders(additional: configuration.httpAdditionalHeaders),
            delivery: delivery
        )
        session = URLSession(configuration: entry.configuration(like: source))
    }

    /// A configuration for sessions that the bridge answers; a new copy each time.
    ///
    /// A session holds the bridge through a property of its configuration: on Linux through the proxies, on Apple's
    /// systems through the cache. If the code under test sets this property itself, keep a reference to the bridge.
    ///
    /// On Linux, only the `httpAdditionalHeaders` of the bridge's initial configuration are sent.
    public var configuration: URLSessionConfiguration { entry.configuration(like: source) }

    /// Ends the bridge.
    ///
    /// From now on, requests of its sessions fail.
    public func end() {
        entry.remove()
    }
}
