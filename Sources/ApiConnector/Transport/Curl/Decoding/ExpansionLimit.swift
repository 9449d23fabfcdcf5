// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Prevents a small compressed body from becoming huge.
struct ExpansionLimit: Sendable, Hashable {
    /// The decoded size up to which a body is never refused because of its ratio: 1 MiB.
    ///
    /// It lets short and very regular bodies pass.
    static let freeByteCount = 1 << 20

    let maximumRatio: Int
    let maximumByteCount: Int
    private(set) var receivedByteCount = 0
    private(set) var decodedByteCount = 0

    init(maximumRatio: Int, maximumByteCount: Int) {
        self.maximumRatio = maximumRatio
        self.maximumByteCount = maximumByteCount
    }

    /// Counts received bytes of the compressed body.
    mutating func receive(_ byteCount: Int) {
        receivedByteCount += byteCount
    }

    /// Counts decoded bytes.
    ///
    /// - Returns: Why they are refused; nil if they are within the limits.
    mutating func admit(_ byteCount: Int) -> String? {
        decodedByteCount += byteCount
        if decodedByteCount > maximumByteCount {
            return "the decompressed body is longer than the limit of \(maximumByteCount) bytes"
        }
        guard decodedByteCount > Self.freeByteCount else { return nil }
        let (allowed, isHuge) = receivedByteCount.multipliedReportingOverflow(by: maximumRatio)
        guard !isHuge, decodedByteCount > allowed else { return nil }
        return "the body expands to more than \(maximumRatio) times its compressed size"
    }
}
