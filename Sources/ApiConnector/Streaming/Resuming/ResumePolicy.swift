// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How a stream or a download that broke off is resumed; see ``StreamFormat/resuming(_:)`` and
/// ``ApiConnectionType/download(at:to:resuming:options:)``.
///
/// For a download an element is a byte that was not there before.
public struct ResumePolicy: Sendable {
    /// The most attempts in a row that bring nothing; 8 by default.
    ///
    /// Lines and downloads count anew behind each element. A feed of events may be quiet for long: any byte counts
    /// there, a comment's too, and so does a connection that lasted longer than ``maximumDelay``.
    public var maximumAttemptCount: Int

    /// The longest time from a break to the end of the last wait, while attempts bring nothing; 5 minutes by default,
    /// nil is without limit.
    public var maximumDuration: Duration?

    /// The longest wait before the first attempt, beyond what the server asks for; doubled for each further attempt.
    ///
    /// 1 second by default. The wait is a random part of it, so that a server that comes back is not asked by all of
    /// its clients at once.
    public var initialDelay: Duration

    /// What the doubling stops at; 1 minute by default.
    public var maximumDelay: Duration

    /// Where chance comes from: a number from 0 to 1, and not 1; the system's generator by default.
    public var random: @Sendable () -> Double

    /// Makes a policy.
    public init(
        maximumAttemptCount: Int = 8,
        maximumDuration: Duration? = .seconds(300),
        initialDelay: Duration = .seconds(1),
        maximumDelay: Duration = .seconds(60),
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.maximumAttemptCount = maximumAttemptCount
        self.maximumDuration = maximumDuration
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
        self.random = random
    }

    /// The defaults.
    public static let standard = ResumePolicy()

    /// How long to wait before an attempt, counted from 1: what the server asks for, and a random part of a time that
    /// doubles.
    func delay(before attempt: Int, asked: Duration?) -> Duration {
        Backoff.delay(attempt, initial: initialDelay, maximum: maximumDelay, asked: asked, random: random())
    }
}

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
