// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

extension URLSessionProvider {
    /// The conformance cases that Foundation's URLSession cannot pass on this system, each with its reason.
    ///
    /// For ``ConformanceTarget/check(_:excluding:within:)`` of this provider, and of one that is built on it.
    public static let conformanceExclusions: [String: String] = {
        let oneValue =
            "a URLRequest and an HTTPURLResponse have one value a name; RFC 9110, section 5.3, calls values "
            + "that are joined by commas the same"
        let noOrder =
            "a URLRequest and an HTTPURLResponse keep their fields in a dictionary; RFC 9110, section 5.3, "
            + "gives the order of different names no meaning"
        var exclusions = [
            "sends a repeated header field once for each value": oneValue,
            "keeps repeated header fields apart": oneValue,
            "sends header fields in their order": noOrder,
            "delivers header fields in their order": noOrder,
        ]
        #if canImport(FoundationNetworking)
        let fromMemory =
            "R2: Foundation on Linux takes a body's source for ended when it has nothing for a moment, so that it is "
            + "read into memory before"
        exclusions["sends a source's beginning before the source ends"] = fromMemory
        exclusions["answers a cancel while a body's source has nothing, and lets go of it"] = fromMemory
        exclusions["never reads far ahead of its reader"] =
            "M2, M3: Foundation on Linux cannot be slowed down, so that a stream fails when 16 MiB are unread"
        let endsTheProcess = "M14: Foundation on Linux ends the process"
        exclusions["leaves trailers out"] = endsTheProcess
        exclusions["fails when the connection is closed inside the head"] = endsTheProcess
        exclusions["skips the heads of 1xx responses"] =
            "M21: Foundation on Linux now and then takes the head of a 1xx response for the response's"
        exclusions["accepts a status line without a reason"] = "M15: Foundation on Linux demands a reason"
        exclusions["delivers the body of a redirect whose location is no URL"] =
            "M16: Foundation on Linux drops this body"
        exclusions["leaves the peer of a body over the limit"] =
            "M17: Foundation on Linux may stop reading and leave the connection open"
        #endif
        return exclusions
    }()
}

extension SystemProvider {
    /// The conformance cases that the system's transport cannot pass, each with its reason.
    public static let conformanceExclusions: [String: String] = {
        #if Curl && os(Linux)
        [
            "uses a connection again":
                "all values of this type share one pool, from which calls beside the case may push its connection out"
        ]
        #else
        URLSessionProvider.conformanceExclusions
        #endif
    }()
}
