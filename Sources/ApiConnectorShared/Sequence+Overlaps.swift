// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Sequence {
    /// The elements with overlapping elements combined: the earlier element is extended to the end of the later one.
    ///
    /// The elements must already be sorted by their start.
    package func unitingOverlaps(of range: WritableKeyPath<Element, Range<Int>>) -> [Element] {
        var united: [Element] = []
        for element in self {
            if let last = united.last?[keyPath: range], element[keyPath: range].lowerBound < last.upperBound {
                let end = Swift.max(last.upperBound, element[keyPath: range].upperBound)
                united[united.count - 1][keyPath: range] = last.lowerBound..<end
            } else {
                united.append(element)
            }
        }
        return united
    }
}
