// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A bar chart that shows how far each goal is reached.
///
/// It is readable on light and dark pages.
///
/// A check whose goal is 0, such as the number of differing bytes, has no share to draw, so it is left out.
struct Chart {
    private struct Bar {
        let name: String
        let text: String
        let share: Double
        let isMet: Bool
    }

    private let bars: [Bar]
    private let footnote: String

    init(outcomes: [Outcome], footnote: String) {
        bars = outcomes.flatMap { outcome in
            outcome.checks.filter { $0.bound > 0 }.map { check in
                Bar(
                    name: "\(outcome.goal)  \(check.name)",
                    text: check.text(withName: false),
                    share: check.share,
                    isMet: check.isMet
                )
            }
        }
        self.footnote = footnote
    }

    func write(to path: String) throws {
        try svg.write(toFile: path, atomically: true, encoding: .utf8)
    }

    private static let nameWidth = 330.0
    private static let barWidth = 300.0
    private static let width = 860.0
    private static let rowHeight = 24.0
    /// The largest share that fits.
    ///
    /// A longer bar is cut.
    private static let maximumShare = 2.5

    /// The picture.
    var svg: String {
        let goal = Self.nameWidth + Self.barWidth / Self.maximumShare
        let height = Double(bars.count) * Self.rowHeight + 66
        let rows = bars.enumerated().map { index, bar in
            let y = 34 + Double(index) * Self.rowHeight
            let length = min(bar.share, Self.maximumShare) / Self.maximumShare * Self.barWidth
            return """
                <text x="\(Self.nameWidth - 8)" y="\(y + 13)" text-anchor="end">\(escaped(bar.name))</text>
                <rect class="\(bar.isMet ? "met" : "short")" x="\(Self.nameWidth)" y="\(y)" width="\(Int(length))" height="17" rx="2"/>
                <text class="quiet" x="\(Self.nameWidth + Self.barWidth + 8)" y="\(y + 13)">\(escaped(bar.text))</text>
                """
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(height))" role="img" aria-label="The goals as bars">
            <style>
            text { font: 12px system-ui, sans-serif; fill: #1f2328; }
            .quiet { fill: #59636e; }
            .small { font-size: 10px; fill: #59636e; }
            .met { fill: #2b7a4b; }
            .short { fill: #b35900; }
            line { stroke: #1f2328; stroke-dasharray: 4 3; }
            @media (prefers-color-scheme: dark) {
            text { fill: #e6edf3; }
            .quiet, .small { fill: #9198a1; }
            .met { fill: #4cb878; }
            .short { fill: #e8963e; }
            line { stroke: #e6edf3; }
            }
            </style>
            <desc>\(escaped(footnote))</desc>
            <text x="\(goal)" y="16" text-anchor="middle">the goal</text>
            \(rows.joined(separator: "\n"))
            <line x1="\(goal)" y1="22" x2="\(goal)" y2="\(height - 30)"/>
            <text class="small" x="8" y="\(height - 10)">\(escaped(footnote))</text>
            </svg>

            """
    }

    private func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
