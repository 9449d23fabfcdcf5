// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The picture in the project's README: two bar charts next to each other, in light or dark colors.
struct Picture {
    /// A bar chart.
    struct Chart {
        let title: String
        /// The measured value, and the better direction.
        let subtitle: String
        let unit: String
        /// The clients from top to bottom; the first one is this library.
        let bars: [(name: String, value: Double)]

        /// The chart as a sentence, for readers who do not see it.
        var sentence: String {
            "\(title), \(subtitle): \(bars.map { "\($0.name) \(text(of: $0.value))" }.joined(separator: ", "))."
        }

        /// The value without digits after the point, because more digits would differ in the next run.
        func text(of value: Double) -> String {
            let number = value.formatted(
                .number.precision(.fractionLength(0)).locale(Locale(identifier: "en_US")).grouping(.automatic)
            )
            return unit.isEmpty ? number : "\(number) \(unit)"
        }
    }

    /// The colors of GitHub's pages.
    enum Appearance: String, CaseIterable {
        case light, dark

        fileprivate var text: String { self == .light ? "#1f2328" : "#f0f6fc" }
        fileprivate var quiet: String { self == .light ? "#59636e" : "#9198a1" }
        fileprivate var ours: String { self == .light ? "#1a7f37" : "#3fb950" }
        fileprivate var rival: String { self == .light ? "#afb8c1" : "#484f58" }
    }

    let charts: [Chart]
    /// The date, the machine and the versions.
    let footnote: String

    private static let chartWidth = 420.0
    private static let nameWidth = 124.0
    private static let barWidth = 200.0
    private static let barHeight = 22.0
    private static let rowHeight = 32.0
    private static let top = 64.0

    /// The text alternative.
    var description: String { charts.map(\.sentence).joined(separator: " ") }

    /// The lines for README.md.
    ///
    /// GitHub shows the picture that fits the reader's theme, which may differ from the theme of the reader's system.
    func markdown(folder: String) -> String {
        """
        <picture>
          <source media="(prefers-color-scheme: dark)" srcset="\(folder)/\(Self.file(.dark))">
          <img src="\(folder)/\(Self.file(.light))" alt="\(escaped(description))">
        </picture>

        Measured on \(footnote).
        """
    }

    /// The name of the file.
    static func file(_ appearance: Appearance) -> String { "picture-\(appearance.rawValue).svg" }

    /// The picture as SVG.
    func svg(_ appearance: Appearance) -> String {
        let rowCount = charts.map(\.bars.count).max() ?? 0
        let height = Self.top + Double(rowCount) * Self.rowHeight + 4
        let contents = charts.enumerated().map { index, chart in
            lines(of: chart, from: Double(index) * Self.chartWidth)
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(Double(charts.count) * Self.chartWidth)) \(number(height))" role="img" aria-labelledby="title description">
            <title id="title">\(escaped(charts.map(\.title).joined(separator: "; ")))</title>
            <desc id="description">\(escaped(description)) Measured on \(escaped(footnote)).</desc>
            <style>
            text { font: 13px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; fill: \(appearance.text); }
            .title { font-size: 15px; font-weight: 600; }
            .quiet { fill: \(appearance.quiet); }
            .first { font-weight: 600; }
            rect { fill: \(appearance.rival); }
            rect.first { fill: \(appearance.ours); }
            </style>
            \(contents.joined(separator: "\n"))
            </svg>

            """
    }

    private func lines(of chart: Chart, from left: Double) -> String {
        let start = left + Self.nameWidth
        let largest = chart.bars.map(\.value).max() ?? 0
        let rows = chart.bars.enumerated().map { index, bar in
            let top = Self.top + Double(index) * Self.rowHeight
            let length = largest > 0 ? max(1, (bar.value / largest * Self.barWidth).rounded()) : 1
            let style = index == 0 ? "first" : "rival"
            return """
                <text class="\(style)" x="\(number(start - 8))" y="\(number(top + 16))" text-anchor="end">\(escaped(bar.name))</text>
                <rect class="\(style)" x="\(number(start))" y="\(number(top))" width="\(number(length))" height="\(number(Self.barHeight))" rx="3"/>
                <text class="\(style)" x="\(number(start + length + 8))" y="\(number(top + 16))">\(escaped(chart.text(of: bar.value)))</text>
                """
        }
        return """
            <text class="title" x="\(number(left + 8))" y="22">\(escaped(chart.title))</text>
            <text class="quiet" x="\(number(left + 8))" y="44">\(escaped(chart.subtitle))</text>
            \(rows.joined(separator: "\n"))
            """
    }

    private func number(_ value: Double) -> String { "\(Int(value))" }

    private func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
