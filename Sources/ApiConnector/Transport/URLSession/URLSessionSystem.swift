// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The features of URLSession, which differ between Apple's systems and Linux.
///
/// The page "URLSession on Apple's systems" says which of them Apple documents.
enum URLSessionSystem: Sendable {
    case apple
    case linux

    static var current: URLSessionSystem {
        #if canImport(FoundationNetworking)
        .linux
        #else
        .apple
        #endif
    }

    /// Whether `suspend()` and `resume()` slow a transfer down.
    ///
    /// On Linux they restart it (M2).
    var suspendsTasks: Bool { self == .apple }

    /// Whether the body of a request can come from a file or a stream.
    ///
    /// On Linux, such a body is truncated (R2).
    var streamsRequestBodies: Bool { self == .apple }

    /// Whether a session measures its tasks.
    var measuresTimes: Bool { self == .apple }

    /// Why the system does not send a request; nil if it sends it.
    ///
    /// On Apple's systems, a GET with a body fails as -1103, "resource exceeds maximum size".
    func refusal(of request: ApiRequest) -> String? {
        guard self == .apple, request.method == .get, !request.body.isEmpty else { return nil }
        return "URLSession on Apple's systems does not send a GET with a body; use POST, or put the values in the query"
    }

    /// Whether an unanswered challenge for a user name and a password is rejected, so that the 401 is the response.
    ///
    /// On Apple's systems, the default handling responds to a proxy with the credentials in the system's settings.
    func rejectsChallenge(ofProxy isOfProxy: Bool) -> Bool { self == .linux || !isOfProxy }

    /// Whether the error of a task that rejected a challenge is the result of this rejection.
    ///
    /// On Linux, the rejection ends the task with the code of a cancellation, -999 (M6). On Apple's systems, it does
    /// not cause an error.
    func isRejectedChallenge(_ error: (any Error)?) -> Bool {
        self == .linux && (error as NSError?)?.code == NSURLErrorCancelled
    }
}

extension OperationQueue {
    /// The callback queue of the provider's own sessions; nil makes the session create one.
    static var forCallbacks: OperationQueue? {
        #if canImport(FoundationNetworking)
        CallbackQueue()
        #else
        nil
        #endif
    }
}

#if canImport(FoundationNetworking)
/// Runs callbacks one after the other on a dispatch queue.
///
/// On Linux, a session calls `addOperation(_:)` for each of a response's three callbacks, and `OperationQueue` would
/// create an operation for each (M20).
///
/// Unchecked, like its superclass: its own property is constant.
private final class CallbackQueue: OperationQueue, @unchecked Sendable {
    private let queue = DispatchQueue(label: "URLSessionProvider")

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        queue.async(execute: block)
    }
}
#endif

extension TransportConfiguration {
    /// A setting that not every `URLSession` can apply.
    enum SessionSetting: String, CaseIterable {
        case certificateAuthorityFile
        case clientCertificate
        case pinnedPublicKeys
        case proxy
    }

    /// Describes the first setting that this platform's `URLSession` does not support; nil if it supports all.
    var sessionRefusal: String? {
        if certificateAuthorityFile != nil {
            return Self.refusal(.certificateAuthorityFile, "trust a file's certificates")
        }
        if clientCertificate != nil { return Self.refusal(.clientCertificate, "read a client certificate from files") }
        #if canImport(FoundationNetworking)
        if !pinnedPublicKeys.isEmpty { return Self.refusal(.pinnedPublicKeys, "check the server's key") }
        if proxy != .system { return Self.refusal(.proxy, "use a proxy other than the environment's") }
        #else
        if case .url(let url) = proxy, url.sessionProxy == nil {
            return Self.refusal(.proxy, "use a proxy that has credentials or is neither http nor socks5")
        }
        #endif
        return nil
    }

    private static func refusal(_ setting: SessionSetting, _ deed: String) -> String {
        "TransportConfiguration.\(setting.rawValue) is set, and URLSession cannot \(deed) on this platform; "
            + URLSessionSystem.current.remedy(for: setting)
    }
}

extension URLSessionSystem {
    /// The replacement for a setting that the system's `URLSession` does not support, as the end of a sentence.
    func remedy(for setting: TransportConfiguration.SessionSetting) -> String {
        switch (self, setting) {
        case (.linux, _):
            "CurlProvider can, which SystemProvider uses where the package's trait Curl is on"
        case (.apple, .certificateAuthorityFile):
            "evaluate the server's certificate in the challengeHandler of URLSessionProvider(configuration:)"
        case (.apple, .clientCertificate):
            "give its SecIdentity to URLSessionProvider(configuration:clientCertificate:)"
        case (.apple, .pinnedPublicKeys):
            "use URLSessionProvider(configuration:pinnedPublicKeys:)"
        case (.apple, .proxy):
            "set connectionProxyDictionary of a URLSessionConfiguration, answer the proxy in a challengeHandler, and use "
                + "URLSessionProvider(configuration:challengeHandler:)"
        }
    }
}

extension URLSessionConfiguration {
    /// A session configuration with the supported settings of a portable configuration.
    static func transport(_ transport: TransportConfiguration) -> URLSessionConfiguration {
        let configuration = plain
        if transport.cookies == .inMemory {
            configuration.httpCookieStorage = URLSessionConfiguration.ephemeral.httpCookieStorage
            configuration.httpShouldSetCookies = true
        }
        #if !canImport(FoundationNetworking)
        switch transport.proxy {
        case .system: break
        case .none: configuration.connectionProxyDictionary = [:]
        case .url(let url): configuration.connectionProxyDictionary = url.sessionProxy
        }
        #endif
        return configuration
    }
}

#if !canImport(FoundationNetworking)
extension URL {
    /// The session's proxy dictionary for this proxy; nil if a session does not support it.
    fileprivate var sessionProxy: [AnyHashable: Any]? {
        guard let host = host(percentEncoded: false), user == nil else { return nil }
        switch scheme?.lowercased() {
        case "http":
            let port = port ?? 80
            return [
                "HTTPEnable": 1, "HTTPProxy": host, "HTTPPort": port,
                "HTTPSEnable": 1, "HTTPSProxy": host, "HTTPSPort": port,
            ]
        case "socks5", "socks5h":
            return ["SOCKSEnable": 1, "SOCKSProxy": host, "SOCKSPort": port ?? 1080]
        default:
            return nil
        }
    }
}
#endif
