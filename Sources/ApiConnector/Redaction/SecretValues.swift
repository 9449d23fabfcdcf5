// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Known secret values, which are replaced wherever a text quotes them.
final class SecretValues: Sendable, Hashable {
    private let values: Set<[UInt8]>
    private let search: SecretSearch
    /// The length of the longest value in bytes.
    private let maximumByteCount: Int

    /// Returns nil if no value is long enough to be replaced; see ``isTelling(_:)``.
    init?(_ values: some Sequence<[UInt8]>) {
        let values = Set(values.filter(Self.isTelling))
        guard let longest = values.map(\.count).max() else { return nil }
        self.values = values
        search = SecretSearch(Array(values))
        maximumByteCount = longest
    }

    /// The values of both collections.
    static func joining(_ one: SecretValues?, _ other: SecretValues?) -> SecretValues? {
        guard let one, let other, one != other else { return one ?? other }
        return SecretValues(one.values.union(other.values))
    }

    /// Whether a value is replaced wherever it occurs.
    ///
    /// A value of 8 bytes or more is replaced, because common policies require passwords of this length. A value of 6
    /// or 7 bytes is replaced if it mixes letters with other characters, such as `hunter2`. A shorter value may be a
    /// word or a number that a text contains by chance.
    static func isTelling(_ value: [UInt8]) -> Bool {
        guard value.count < 8 else { return true }
        let letterCount = value.count { 0x61...0x7A ~= $0 | 0x20 }
        return value.count >= 6 && letterCount > 0 && letterCount < value.count
    }

    /// The bytes with all values replaced.
    ///
    /// - Parameter byteCount: The number of bytes to include; a value that begins within them may end after them. All
    ///   bytes by default.
    func masked(_ bytes: some Collection<UInt8>, upTo byteCount: Int = .max) -> [UInt8] {
        // In JSON, each byte of a value can take up to six bytes.
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

    /// The places of the values, in order and without overlaps.
    func places(in bytes: [UInt8]) -> [Redactor.SecretPlace] {
        search.findings(in: bytes).map { Redactor.SecretPlace(range: $0.range) }
    }

    static func == (left: SecretValues, right: SecretValues) -> Bool { left.values == right.values }

    func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
