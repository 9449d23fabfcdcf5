// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

extension URLSessionProvider {
    /// The conformance cases that Foundation's URLSession cannot pass on this system, each with its reason.
    ///
    /// Pass them to ``ConformanceTarget/check(_:excluding:within:)`` for this provider and for providers built on it.
    public static let conformanceExclusions: [String: String] = {
        let oneValue =
            "URLRequest and HTTPURLResponse have one value per name; by RFC 9110, section 5.3, values joined by commas "
            + "are equivalent"
        let noOrder =
            "URLRequest and HTTPURLResponse keep their fields in a dictionary; by RFC 9110, section 5.3, the order of "
            + "different names has no meaning"
        var exclusions = [
            "sends a repeated header field once for each value": oneValue,
            "keeps repeated header fields separate": oneValue,
            "sends header fields in their order": noOrder,
            "delivers header fields in their order": noOrder,
        ]
        #if canImport(FoundationNetworking)
        let fromMemory =
            "R2: Foundation on Linux ends a body as soon as its source is idle, so the body is read into memory before "
            + "it is sent"
        exclusions["sends the first chunk of a source before the source ends"] = fromMemory
        exclusions["ends a canceled call while the body's source is idle, and releases the source"] = fromMemory
        exclusions["applies back-pressure when the reader is slow"] =
            "M2, M3: Foundation on Linux has no back-pressure, so a stream fails when 16 MiB are unread"
        let endsTheProcess = "M14: Foundation on Linux ends the process"
        exclusions["ignores trailers"] = endsTheProcess
        exclusions["fails when the connection is closed inside the head"] = endsTheProcess
        exclusions["skips 1xx responses"] =
            "M21: Foundation on Linux sometimes takes the head of a 1xx response for the final head"
        exclusions["accepts a status line without a reason phrase"] =
            "M15: Foundation on Linux requires a reason phrase"
        exclusions["delivers the body of a redirect whose Location is not a URL"] =
            "M16: Foundation on Linux drops this body"
        let staysOpen = "M17: Foundation on Linux may stop reading and leave the connection open"
        exclusions["disconnects when a body exceeds the limit"] = staysOpen
        exclusions["disconnects when a streamed body exceeds the limit"] = staysOpen
        exclusions["serves other calls while a stream is not read"] =
            "M17: if the stream fails because 16 MiB are unread, Foundation on Linux may read the rest of its body as "
            + "the next response"
        #endif
        return exclusions
    }()
}

extension SystemProvider {
    /// The conformance cases that the system's transport cannot pass, each with its reason.
    public static let conformanceExclusions: [String: String] = {
        #if Curl && os(Linux)
        [
            "reuses a connection":
                "all values of this type share one pool, from which concurrent calls can evict the case's connection"
        ]
        #else
        URLSessionProvider.conformanceExclusions
        #endif
    }()
}
