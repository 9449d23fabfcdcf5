// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The upper bounds of the micro-benchmarks, as multiples of their references.
///
/// The table of bounds is checked in.
struct Bounds {
    struct Malformed: Error, CustomStringConvertible {
        let line: String

        var description: String { "'\(line)' is not 'NAME | REFERENCE | MOST', or is a duplicate" }
    }

    private struct Bound {
        let reference: String
        let most: Double
    }

    private var byName: [String: Bound] = [:]

    /// Reads a table with one line per case.
    ///
    /// Ignores empty lines and lines that start with `#`.
    init(parsing text: String) throws {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: " | ", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3, let most = Double(parts[2]), most > 0, byName[parts[0]] == nil else {
                throw Malformed(line: String(line))
            }
            byName[parts[0]] = Bound(reference: parts[1], most: most)
        }
    }

    /// Whether a ratio exceeds its bound and must be measured again.
    func isOver(_ ratio: MicroRatio) -> Bool {
        // With this form of the comparison, NaN counts as over the bound.
        byName[ratio.name].map { !(ratio.value <= $0.most) } ?? false
    }

    /// The reasons why a run fails: a ratio over its bound, a case without a bound, or a bound without a case.
    func problems(of ratios: [MicroRatio]) -> [String] {
        let found = ratios.compactMap { ratio -> String? in
            guard let bound = byName[ratio.name], bound.reference == ratio.reference else {
                return "\(ratio.name), over \(ratio.reference): the table has no bound"
            }
            return isOver(ratio) ? "\(ratio.text), and at most \(Unit.times.text(bound.most)) is allowed" : nil
        }
        let left = Set(byName.keys).subtracting(ratios.map(\.name)).sorted()
        return found + left.map { "\($0): the table has a bound, but there is no such case" }
    }

    /// A table of the measured ratios, with a margin.
    static func table(of ratios: [MicroRatio], room: Double) -> String {
        let lines = ratios.map { "\($0.name) | \($0.reference) | \(String(format: "%.2f", $0.value * room))" }
        return """
            # The most that each part may take, as a multiple of what the same takes by hand in the same run.
            # 'goals micro --bounds FILE' compares; 'goals micro --write FILE' writes it again; run it on a quiet machine.
            \(lines.joined(separator: "\n"))

            """
    }
}

/// The ratio of a micro-benchmark to its reference.
struct MicroRatio {
    let name: String
    let reference: String
    var value: Double

    var text: String { "\(name): \(Unit.times.text(value)) of \(reference)" }
}
