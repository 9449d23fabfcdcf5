// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

// Refuses what a session cannot deliver. A script is checked when the bridge is made, and a task when it starts.

extension AdapterLimits {
    static func session(_ delivery: SessionBridge.BodyDelivery) -> AdapterLimits {
        AdapterLimits(ofMatcher: routeless("a URLSession")) { response in
            for error in response.failures where URLError.Code(sessionShowing: error) == nil {
                return "URLSession has no error for kind \(ApiConnectorError.kind(of: error)); "
                    + "fail with a URLError"
            }
            #if canImport(FoundationNetworking)
            if response.isFed, delivery == .whole {
                return "its body is fed in parts, and on Linux a URLSession delivers only whole bodies; "
                    + "if the session's delegate receives the data, make the bridge with delivery: .inChunks"
            }
            #endif
            return nil
        }
    }
}

extension BridgeEntry {
    /// Whether a task gets the body in one piece.
    func delivers(wholeTo task: URLSessionTask?) -> Bool {
        #if canImport(FoundationNetworking)
        delivery == .whole || !(task?.delegate is any URLSessionDataDelegate)
        #else
        false
        #endif
    }
}

extension BridgedLoad {
    /// Refuses the tasks that Foundation on Linux handles wrongly.
    func refuse(_ task: URLSessionTask?, _ entry: BridgeEntry) throws(ApiConnectorError) {
        #if canImport(FoundationNetworking)
        if task is URLSessionDownloadTask {
            try refuse(
                "Foundation on Linux traps in a download task that a URLProtocol answers; use a data task, or ScriptServer",
                entry
            )
        }
        if task is URLSessionUploadTask {
            try refuse(
                "Foundation on Linux hides an upload task's body from a URLProtocol, so no matcher can see it; "
                    + "use a data task with an httpBody, or ScriptServer",
                entry
            )
        }
        #endif
    }

    /// Refuses a 401 that Foundation on Linux handles itself (R7, M6): it sends a credential over the real network, or
    /// never ends the task.
    func refuse(_ response: ApiResponse, to task: URLSessionTask?, _ entry: BridgeEntry) throws(ApiConnectorError) {
        #if canImport(FoundationNetworking)
        // Basic is the only scheme that Foundation on Linux knows.
        guard response.status == 401,
            response.headers.values(.wwwAuthenticate).contains(where: { $0.lowercased().contains("basic") }),
            !(task.map(URLSessionProvider.isBehind) ?? false)
        else { return }
        try refuse(
            "Foundation on Linux handles a 401 with WWW-Authenticate: Basic itself: it asks "
                + "the session's delegate for a "
                + "credential and sends the credential over the real network; without a delegate, the task never ends; "
                + "leave the field out, or use ScriptServer",
            entry
        )
        #endif
    }

    private func refuse(_ text: String, _ entry: BridgeEntry) throws(ApiConnectorError) {
        entry.responses.refuse("A SessionBridge refused a request: \(text).")
        throw ApiConnectorError(.unmatched, text)
    }
}
