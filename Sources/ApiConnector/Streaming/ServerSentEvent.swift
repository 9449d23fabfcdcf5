// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// One event of a stream of server-sent events, as the WHATWG's HTML standard dispatches it.
public struct ServerSentEvent: Sendable, Hashable {
    /// What kind of event it is; `message` where the server names none.
    public let type: String

    /// The data, several lines joined by LF.
    public let data: String

    /// The last event ID that the server has given, with this event or an earlier one; empty where it gave none.
    public let id: String

    /// Makes an event, such as for a test.
    public init(type: String = "message", data: String, id: String = "") {
        self.type = type
        self.data = data
        self.id = id
    }
}
