// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The time windows of a proof.
struct Windows {
    /// The number of calls in a window, and the largest number that is allowed.
    struct Content {
        let count: Int
        let bound: Int
    }

    /// The sorted times at which calls arrived.
    let times: [UInt64]
    let disturbances: [Disturbances.Period]

    /// Of the half-open windows with this length, the one with the highest count relative to its bound; nil if there is
    /// no window.
    ///
    /// The windows are between the first and the last call. If the calls took less than the length, there is one
    /// window.
    ///
    /// - Parameter isDisturbed: Whether to look at the windows with a disturbance, or at those without one.
    func fullest(of length: UInt64, isDisturbed: Bool, under load: Load) -> Content? {
        guard let start = times.first, let last = times.last else { return nil }
        let run = start..<max(last + 1, start + length)
        var fullest: Content?
        var first = 0
        func look(at window: Range<UInt64>, _ count: Int) {
            guard run.contains(window) else { return }
            let overlaps = disturbances.map { $0.clamped(to: window) }.filter { !$0.isEmpty }
            guard overlaps.isEmpty != isDisturbed else { return }
            // While some processes use their share of the rate, others may use the bucket. The bucket is full after
            // Redis has lost its data, and processes may still have tokens from before.
            let time = Double(length) + overlaps.reduce(0) { $0 + Double($1.upperBound - $1.lowerBound) }
            let bound =
                Int((Double(load.rate) * time / 1e9).rounded(.up)) + (load.burst + load.slack) * (1 + overlaps.count)
            if fullest.map({ count * $0.bound > $0.count * bound }) != false {
                fullest = Content(count: count, bound: bound)
            }
        }
        for (index, time) in times.enumerated() {
            // Looks at two windows for each call. One window ends with the call. The other one begins with the first
            // call in the first window.
            while times[first] + length <= time { first += 1 }
            let end = time + 1
            look(at: (end > length ? end - length : 0)..<end, index - first + 1)
            look(at: times[first]..<times[first] + length, index - first + 1)
        }
        return fullest
    }
}
