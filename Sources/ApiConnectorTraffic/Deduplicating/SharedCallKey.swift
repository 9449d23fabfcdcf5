// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The key of identical calls, which one request can answer.
///
/// The key includes all header fields and the user info, and thus all credentials and cookies. It includes the timeouts
/// of an attempt, because all calls that share a request share its timeouts. It does not include the deadline, because
/// each call applies its own.
struct SharedCallKey {
    /// The part of the key that is compared under a lock.
    let target: SharedCallTarget
    /// The request's other values, which may change what inner providers do.
    ///
    /// The priority is one of them: a call of high priority must not wait for a call of low priority. The values can
    /// have any type. Comparing them runs the user's code, which must not run under a lock.
    let values: RequestValues

    init(_ request: ApiRequest) {
        target = SharedCallTarget(request)
        // The request has no body to upload.
        var request = request
        request.uploadProgress = nil
        values = request.values
    }
}

/// The part of the key that has no values of the user's types.
struct SharedCallTarget: Hashable {
    private let method: HTTPMethod
    let origin: HTTPOrigin?
    private let path: String
    private let query: String?
    private let userInfo: [String?]
    private let fields: [String: [String]]
    private let delivery: ResponseDelivery
    private let limits: [Duration?]
    /// Test doubles encode canned values with the request's coders.
    private let coders: [ObjectIdentifier?]
    /// An inner provider may add a credential for the connection's own origin only.
    private let isToOwnOrigin: Bool?
    /// An inner provider may add a secret to only one of the calls.
    private let withholdsCredentials: Bool
    /// The scale of deadlines.
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
    /// Whether its response may also answer another call: the request is safe, and its body can be read more than once.
    var isShareable: Bool {
        (method == .get || method == .head) && body.isEmpty && delivery != .streamed && headers.refused.isEmpty
    }
}
