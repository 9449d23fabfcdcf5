// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Counts recent requests and failures in ten slices; a new slice replaces the oldest.
struct FailureWindow {
    static let sliceCount = 10

    private let sliceDuration: Duration
    private var slices: [(number: Int64, count: Int, failureCount: Int)] = []

    init(_ duration: Duration) {
        // At least a microsecond, so that a slice's number fits in an `Int64`.
        sliceDuration = max(duration / Self.sliceCount, .microseconds(1))
    }

    var count: Int { slices.reduce(0) { $0 + $1.count } }

    /// The share of failures, from 0 to 1.
    var share: Double { count == 0 ? 0 : Double(slices.reduce(0) { $0 + $1.failureCount }) / Double(count) }

    mutating func add(isFailure: Bool, now: Duration) {
        let number = Int64((now / sliceDuration).rounded(.down))
        slices.removeAll { $0.number <= number - Int64(Self.sliceCount) }
        if slices.last?.number != number { slices.append((number, 0, 0)) }
        slices[slices.count - 1].count += 1
        if isFailure { slices[slices.count - 1].failureCount += 1 }
    }
}
