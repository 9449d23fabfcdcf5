// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Stops a small compressed body from becoming a huge one.
struct CurlExpansionGuard {
    /// What may always come out, so that a short and very regular body passes: 1 MiB.
    static let freeByteCount = 1 << 20

    let maximumRatio: Int
    let maximumByteCount: Int
    /// How much may have come that libcurl does not count yet: it counts some bodies only after it has delivered a
    /// read.
    let readByteCount: Int
    private(set) var decodedByteCount = 0

    init(maximumRatio: Int, maximumByteCount: Int, readByteCount: Int) {
        self.maximumRatio = maximumRatio
        self.maximumByteCount = maximumByteCount
        self.readByteCount = readByteCount
    }

    /// Counts decoded bytes.
    ///
    /// - Parameter wireByteCount: How many bytes of the body have come over the wire so far.
    /// - Returns: Why they are refused; nil where they are within the limits.
    mutating func admit(_ byteCount: Int, wireByteCount: Int) -> String? {
        decodedByteCount += byteCount
        if decodedByteCount > maximumByteCount {
            return "the decompressed body is longer than the limit of \(maximumByteCount) bytes"
        }
        guard decodedByteCount > Self.freeByteCount else { return nil }
        let (allowed, isHuge) = (wireByteCount + readByteCount).multipliedReportingOverflow(by: maximumRatio)
        guard !isHuge, decodedByteCount > allowed else { return nil }
        return "the body expands to more than \(maximumRatio) times what was received"
    }

    /// Forgets bytes that libcurl is going to deliver again.
    mutating func takeBack(_ byteCount: Int) {
        decodedByteCount -= byteCount
    }
}
