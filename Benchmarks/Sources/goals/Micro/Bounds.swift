// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The most that each micro-benchmark may take, over its reference: a table that is checked in.
struct Bounds {
    struct Malformed: Error, CustomStringConvertible {
        let line: String

        var description: String { "'\(line)' is not 'NAME | REFERENCE | MOST', or stands twice" }
    }

    private struct Bound {
        let reference: String
        let most: Double
    }

    private var byName: [String: Bound] = [:]

    /// Reads a table: a line for each case, but for empty lines and those that begin with `#`.
    init(parsing text: String) throws {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: " | ", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3, let most = Double(parts[2]), most > 0, byName[parts[0]] == nil else {
                throw Malformed(line: String(line))
            }
            byName[parts[0]] = Bound(reference: parts[1], most: most)
        }
    }

    /// Whether a ratio is over its bound, so that it is worth another look.
    func isOver(_ ratio: MicroRatio) -> Bool {
        // Asked this way round, what is not a number is over.
        byName[ratio.name].map { !(ratio.value <= $0.most) } ?? false
    }

    /// What fails a run: a ratio over its bound, and whatever stands on one side only.
    func problems(of ratios: [MicroRatio]) -> [String] {
        let found = ratios.compactMap { ratio -> String? in
            guard let bound = byName[ratio.name], bound.reference == ratio.reference else {
                return "\(ratio.name), over \(ratio.reference): the table has no bound of it"
            }
            return isOver(ratio) ? "\(ratio.text), and at most \(Unit.times.text(bound.most)) is allowed" : nil
        }
        let left = Set(byName.keys).subtracting(ratios.map(\.name)).sorted()
        return found + left.map { "\($0): the table has a bound of it, and it is not measured" }
    }

    /// A table of what was measured and some room.
    static func table(of ratios: [MicroRatio], room: Double) -> String {
        let lines = ratios.map { "\($0.name) | \($0.reference) | \(String(format: "%.2f", $0.value * room))" }
        return """
            # The most that each part may take, as a multiple of what the same takes by hand in the same run.
            # 'goals micro --bounds FILE' compares; 'goals micro --write FILE' writes it again; run it on a quiet machine.
            \(lines.joined(separator: "\n"))

            """
    }
}

/// What a micro-benchmark took, over its reference.
struct MicroRatio {
    let name: String
    let reference: String
    var value: Double

    var text: String { "\(name): \(Unit.times.text(value)) of \(reference)" }
}
