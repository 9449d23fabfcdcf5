// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// What two calls have to share for one request to answer both.
///
/// All header fields count, and so whatever shows who asks: credentials, cookies, user info. The limits of an attempt
/// count, for one request has one of each; the deadline does not, for each call keeps to its own.
struct SharedCallKey {
    /// What is compared under a lock.
    let target: SharedCallTarget
    /// What a provider further in makes of them may differ.
    ///
    /// A priority is one of them: a call that goes first does not wait in the place of one that goes last. The values are of
    /// any types. Their comparison is code of the user, which never runs under a lock.
    let values: RequestValues

    init(_ request: ApiRequest) {
        target = SharedCallTarget(request)
        // Nothing is uploaded.
        var request = request
        request.uploadProgress = nil
        values = request.values
    }
}

/// The part of the key that is not of a user's type.
struct SharedCallTarget: Hashable {
    private let method: HTTPMethod
    let origin: HTTPOrigin?
    private let path: String
    private let query: String?
    private let userInfo: [String?]
    private let fields: [String: [String]]
    private let delivery: ResponseDelivery
    private let limits: [Duration?]
    /// A test double writes canned values with them.
    private let coders: [ObjectIdentifier?]
    /// A credential further in may be for the connection's own origin only.
    private let isToOwnOrigin: Bool?
    /// A provider further in may add a secret to one only.
    private let withholdsCredentials: Bool
    /// Deadlines are on its scale.
    private let scale: ObjectIdentifier

    init(_ request: ApiRequest) {
        method = request.method
        origin = HTTPOrigin(request.url)
        path = request.url.path(percentEncoded: true)
        query = request.url.query(percentEncoded: true)
        userInfo = [request.url.user(percentEncoded: true), request.url.password(percentEncoded: true)]
        fields = Dictionary(grouping: request.headers) { $0.name.rawValue.lowercased() }.mapValues { $0.map(\.value) }
        delivery = request.delivery
        limits = [request.timeouts.attempt, request.timeouts.stall]
        coders = [request.encoder.map { ObjectIdentifier($0) }, request.decoder.map { ObjectIdentifier($0) }]
        isToOwnOrigin = request.isToOwnOrigin
        withholdsCredentials = request.withholdsCredentials
        scale = request.timeSource.scale
    }
}

extension ApiRequest {
    /// Whether its answer may be another call's, too: it has no effect, and its answer does not come only once.
    var isShareable: Bool {
        (method == .get || method == .head) && body.isEmpty && delivery != .streamed && headers.refused.isEmpty
    }
}
