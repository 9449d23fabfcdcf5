// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The protocol class of one bridge's sessions.
///
/// It takes every request, so that no request reaches the network.
final class Bridge<Slot: BridgeSlot>: URLProtocol {
    private let load = BridgedLoad()

    // R7: Foundation calls this under a lock.
    override class func canInit(with request: URLRequest) -> Bool { true }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool { false }

    override func startLoading() {
        let entry = BridgeTable.shared.entry(of: Self.self)
        // Without an entry, a new object is enough, because all turns share one queue.
        load.start(request, BridgeClient(urlProtocol: self, turns: entry?.turns ?? SessionTurns()), entry)
    }

    override func stopLoading() {
        load.stop()
    }
}

/// The session's side of a load.
///
/// Unchecked, because Foundation's class is not `Sendable`. From `startLoading` on, the library calls the protocol's
/// client only within ``SessionTurns``. Foundation itself calls the protocol from any queue.
struct BridgeClient: @unchecked Sendable {
    let urlProtocol: URLProtocol
    let turns: SessionTurns

    private var client: (any URLProtocolClient)? { urlProtocol.client }

    var task: URLSessionTask? { urlProtocol.task }

    func receive(_ head: HTTPURLResponse) {
        client?.urlProtocol(urlProtocol, didReceive: head, cacheStoragePolicy: .notAllowed)
    }

    func receive(_ data: Data) {
        client?.urlProtocol(urlProtocol, didLoad: data)
    }

    func finish() {
        client?.urlProtocolDidFinishLoading(urlProtocol)
    }

    func fail(_ error: any Error) {
        client?.urlProtocol(urlProtocol, didFailWithError: error)
    }
}
