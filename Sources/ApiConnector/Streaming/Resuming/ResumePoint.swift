// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The point at which a stream is resumed.
struct ResumePoint: Sendable, Equatable {
    /// The `Last-Event-ID` for server-sent events; empty for none.
    var lastEventID = ""

    /// The wait that the server requests.
    var reconnectionTime: Duration?

    /// Whether any byte counts as progress, for a feed that may be quiet.
    var isOfFeed = false

    /// The position of the next record, for a format that is resumed at a byte offset; nil for any other format.
    var position: RecordPosition?
}

extension ResumePoint {
    /// The maximum length of a `Last-Event-ID`, in bytes: 4 KiB, because many servers limit the whole head to 8 KiB.
    static let maximumEventIDByteCount = 4096

    /// Why a request cannot contain the last event's ID; nil if it can.
    var eventIDObstacle: String? {
        guard lastEventID.utf8.count <= Self.maximumEventIDByteCount else {
            return "the ID of the last event is longer than \(Self.maximumEventIDByteCount) bytes"
        }
        let headers: HTTPHeaders = ["Last-Event-ID": lastEventID]
        return headers.refused.isEmpty ? nil : "the ID of the last event holds a control character"
    }
}

/// The position of a record in a body.
struct RecordPosition: Sendable, Equatable {
    /// The offset in bytes from the start of the body.
    var offset = 0

    /// The number of records before it.
    var recordCount = 0
}
