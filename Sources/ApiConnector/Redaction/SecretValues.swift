// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Secrets that are known by their values, and replaced wherever a text quotes them.
final class SecretValues: Sendable, Hashable {
    private let values: Set<[UInt8]>
    private let search: SecretSearch
    /// The length of the longest value in bytes.
    private let maximumByteCount: Int

    /// Nil where no value is long enough to be replaced; see ``isTelling(_:)``.
    init?(_ values: some Sequence<[UInt8]>) {
        let values = Set(values.filter(Self.isTelling))
        guard let longest = values.map(\.count).max() else { return nil }
        self.values = values
        search = SecretSearch(Array(values))
        maximumByteCount = longest
    }

    /// The values of both.
    static func joining(_ one: SecretValues?, _ other: SecretValues?) -> SecretValues? {
        guard let one, let other, one != other else { return one ?? other }
        return SecretValues(one.values.union(other.values))
    }

    /// Whether a value is replaced wherever it stands.
    ///
    /// From 8 bytes on any value is: the shortest password that common policies allow. A value of 6 or 7 bytes is
    /// replaced if it mixes letters with digits or other characters, such as `hunter2`. Anything shorter is a word or
    /// a number that texts contain by chance.
    static func isTelling(_ value: [UInt8]) -> Bool {
        guard value.count < 8 else { return true }
        let letterCount = value.count { 0x61...0x7A ~= $0 | 0x20 }
        return value.count >= 6 && letterCount > 0 && letterCount < value.count
    }

    /// The bytes with all values replaced.
    ///
    /// - Parameter byteCount: How many bytes are wanted; a value that begins within them may end after them. All by
    ///   default.
    func masked(_ bytes: some Collection<UInt8>, upTo byteCount: Int = .max) -> [UInt8] {
        // JSON writes each byte of a value in up to six.
        let (limit, isOverflowing) = byteCount.addingReportingOverflow(6 * maximumByteCount)
        let bytes = Array(bytes.prefix(isOverflowing ? .max : limit))
        let end = min(byteCount, bytes.count)
        var masked: [UInt8] = []
        var copied = 0
        for (range, _) in search.findings(in: bytes) where range.lowerBound < end {
            masked += bytes[copied..<range.lowerBound] + Array(Redactor.replacement.utf8)
            copied = range.upperBound
        }
        if copied < end { masked += bytes[copied..<end] }
        return masked
    }

    /// Where values stand, in order; no two overlap.
    func places(in bytes: [UInt8]) -> [Redactor.SecretPlace] {
        search.findings(in: bytes).map { Redactor.SecretPlace(range: $0.range) }
    }

    static func == (left: SecretValues, right: SecretValues) -> Bool { left.values == right.values }

    func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
