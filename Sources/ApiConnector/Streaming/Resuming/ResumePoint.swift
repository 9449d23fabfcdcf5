// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// From where a stream is resumed.
struct ResumePoint: Sendable, Equatable {
    /// What the request carries, for server-sent events; empty for none.
    var lastEventID = ""

    /// How long the server wants a client to wait.
    var reconnectionTime: Duration?

    /// Whether any byte shows that the stream goes on, for one that may have nothing to say.
    var isOfFeed = false

    /// Where the next record begins, for a format that is resumed by byte; nil for any other.
    var position: RecordPosition?
}

extension ResumePoint {
    /// The longest `Last-Event-ID` that is sent, in bytes: 4 KiB, for many servers limit a whole head to 8 KiB.
    static let maximumEventIDByteCount = 4096

    /// Why a request cannot carry the last event's ID; nil where it can.
    var eventIDObstacle: String? {
        guard lastEventID.utf8.count <= Self.maximumEventIDByteCount else {
            return "the ID of the last event is longer than \(Self.maximumEventIDByteCount) bytes"
        }
        let headers: HTTPHeaders = ["Last-Event-ID": lastEventID]
        return headers.refused.isEmpty ? nil : "the ID of the last event holds a control character"
    }
}

/// Where a record begins in a body.
struct RecordPosition: Sendable, Equatable {
    /// In bytes from the start of the body.
    var offset = 0

    /// How many records come before it.
    var recordCount = 0
}
