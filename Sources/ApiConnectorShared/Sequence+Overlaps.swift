// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Sequence {
    /// The elements, which are in the order of their beginnings, without those that overlap an earlier one; that reaches
    /// as far as they do then.
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
