// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Answers the requests of a `URLSession` from a script, for code that uses a session instead of a provider.
///
/// ```swift
/// let bridge = try SessionBridge(script)
/// let pugs = PugClient(session: bridge.session)
/// let other = OtherClient(configuration: bridge.configuration)
/// ```
///
/// Nothing is registered globally: the session's `protocolClasses` name a class that no other session has. The bridge
/// answers while the session or the bridge exists. After ``end()``, or when the script has ended or was released, a
/// request fails with an error that says so.
///
/// A redirect is delivered, not followed. An answer that a session cannot deliver is refused, with the line where it
/// was declared; the guide "Mocking code that you cannot change" lists such answers.
public final class SessionBridge: Sendable {
    /// How a session on Linux gets the bodies of answers.
    ///
    /// On Apple's systems they always arrive in chunks as declared.
    public enum BodyDelivery: Sendable, Hashable {
        /// In one piece, the default: a completion handler and an `async` call would get only the last chunk.
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
    ///   - configuration: The configuration to start from; ephemeral by default. Stored credentials and the cache are
    ///     left out.
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

    /// The configuration of sessions that the bridge answers; a new copy each time.
    ///
    /// Keep a reference to the bridge if the code under test sets its own proxies or, on Apple's systems, its own
    /// cache: a session holds the bridge through these properties.
    ///
    /// On Linux, only the `httpAdditionalHeaders` of the configuration that the bridge was made with are sent.
    public var configuration: URLSessionConfiguration { entry.configuration(like: source) }

    /// Ends the bridge.
    ///
    /// From now on, requests of its sessions fail.
    public func end() {
        entry.remove()
    }
}
