// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import goals

@Suite struct ChartTests {
    private let outcome: Outcome = {
        var outcome = Outcome(goal: "G1", title: "speed")
        outcome.add(
            Check("× <rival>", 1.2, atLeast: 1.0),
            Check("time", 8, atMost: 4, .microseconds),
            Check("bytes that differ", 0, atMost: 0, .count),
            Check("threads more", 0, atMost: 8, .count)
        )
        return outcome
    }()

    @Test func drawsABarForEachCheckThatHasAShare() {
        let svg = Chart(outcomes: [outcome], footnote: "2 cores & more").svg
        // A bar of 300 points is 2.5 times the goal.
        #expect(svg.contains(#"<rect class="met" x="330.0" y="34.0" width="144" height="17" rx="2"/>"#))
        #expect(svg.contains(#"<rect class="short" x="330.0" y="58.0" width="60" height="17" rx="2"/>"#))
        // For a count that should be small, 0 is the best value.
        #expect(svg.contains(#"<rect class="met" x="330.0" y="82.0" width="300" height="17" rx="2"/>"#))
        #expect(svg.split(separator: "<rect ").count == 4)
        #expect(!svg.contains("bytes that differ"))
    }

    @Test func writesTextsAsSVGWantsThem() throws {
        let svg = Chart(outcomes: [outcome], footnote: "2 cores & more").svg
        #expect(svg.contains("G1  × &lt;rival&gt;"))
        #expect(svg.contains("<desc>2 cores &amp; more</desc>"))
        #expect(svg.hasPrefix("<svg ") && svg.hasSuffix("</svg>\n"))
        #expect(svg.contains("prefers-color-scheme: dark"))
    }
}
