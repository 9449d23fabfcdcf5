// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What two calls have to share for one request to answer both.
///
/// All header fields count, and so whatever shows who asks: credentials, cookies, user info. The limits of an attempt
/// count, for one request has one of each; the deadline does not, for each call keeps to its own.
struct SharedCallKey: Hashable {
    fileprivate let target: RequestTarget
    private let userInfo: [String?]
    private let fields: [String: [String]]
    private let delivery: ResponseDelivery
    private let cacheUse: CacheUse
    private let limits: [Duration?]
    /// A call that goes first does not wait in the place of one that goes last.
    private let priority: CallPriority
    /// What a provider further in makes of them may differ.
    private let values: [ObjectIdentifier]
    /// A credential further in may be for the connection's own origin only.
    private let isToOwnOrigin: Bool?
    /// A provider further in may add a secret to one only.
    private let isGuarded: Bool
    /// Deadlines are on its scale.
    private let scale: ObjectIdentifier

    init(_ request: ApiRequest) {
        target = RequestTarget(request)
        userInfo = [request.url.user(percentEncoded: true), request.url.password(percentEncoded: true)]
        fields = Dictionary(grouping: request.headers) { $0.name.rawValue.lowercased() }.mapValues { $0.map(\.value) }
        delivery = request.delivery
        cacheUse = request.cacheUse
        limits = [request.timeouts.attempt, request.timeouts.stall]
        priority = request.priority
        values = request.values.identity(besides: [PriorityValue.self, CacheUseValue.self, UploadProgressValue.self])
        isToOwnOrigin = request.isToOwnOrigin
        isGuarded = request.credentialGuard != nil
        scale = request.timerQueue.scale
    }
}

extension SharedCallKey {
    var origin: Origin? { target.origin }
}

extension ApiRequest {
    /// Whether its answer may be another call's, too: it has no effect, and its answer does not come only once.
    var isShareable: Bool {
        (method == .get || method == .head) && body.isEmpty && delivery != .streamed && headers.refused.isEmpty
    }
}
