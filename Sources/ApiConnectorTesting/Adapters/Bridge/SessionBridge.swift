// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Answers a `URLSession` from a script, for code that holds one and cannot be given a provider.
///
/// ```swift
/// let bridge = try SessionBridge(script)
/// let pugs = PugClient(session: bridge.session)
/// let other = OtherClient(configuration: bridge.configuration)
/// ```
///
/// Nothing is registered globally: the session's `protocolClasses` name a class that no other session has. It is
/// answered for as long as somebody holds the session, or the bridge; after ``end()``, and when its script has ended or
/// is gone, a request fails with an error that says so.
///
/// A redirect is delivered as it is, and not followed. What a session cannot show is refused, with the line where it
/// was declared; the guide "Mocking code that you cannot change" lists it.
public final class SessionBridge: Sendable {
    /// How a session on Linux gets the bodies of answers; on Apple's systems they always come as they are written.
    public enum BodyDelivery: Sendable, Hashable {
        /// In one piece, the default: a completion handler and an `async` call are handed nothing but the last one.
        case whole
        /// As they are written, for a session whose delegate gets the data. Give it no completion handler.
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
    ///   - configuration: What the sessions are made of otherwise; ephemeral by default. Stored credentials and the
    ///     cache are left out.
    ///   - delivery: How bodies come on Linux; ``BodyDelivery/whole`` by default.
    /// - Throws: ``UnsupportedScriptError`` for a script with answers that a session cannot show; an `ApiConnectorError` for
    ///   the configuration of a background session, whose requests another process sends.
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

    /// What a session has to be made of to be answered from here; a new copy each time.
    ///
    /// Hold the bridge where the code under test gives the configuration proxies of its own, or on Apple's systems a
    /// cache: by these a session keeps what answers it.
    ///
    /// On Linux `httpAdditionalHeaders` count only as they are in the configuration that the bridge was made with.
    public var configuration: URLSessionConfiguration { entry.configuration(like: source) }

    /// Ends the bridge: its sessions are answered nothing any more.
    public func end() {
        entry.remove()
    }
}
