// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

@testable import goals

struct PictureTests {
    private let picture = Picture(
        charts: [
            Picture.Chart(
                title: "Requests per second",
                subtitle: "more is better",
                unit: "",
                bars: [("ApiConnector", 24_000.4), ("a <rival>", 6_000)]
            ),
            Picture.Chart(title: "Peak memory", subtitle: "less is better", unit: "MB", bars: [("ApiConnector", 40)]),
        ],
        footnote: "2026-11-23, 2 cores & more"
    )

    @Test func theLongestBarHasTheWholeWidthAndTheOthersTheirShare() {
        let svg = picture.svg(.light)
        #expect(svg.contains(#"<rect class="first" x="124" y="64" width="200" height="22" rx="3"/>"#))
        #expect(svg.contains(#"<rect class="rival" x="124" y="96" width="50" height="22" rx="3"/>"#))
        #expect(svg.contains(#"<rect class="first" x="544" y="64" width="200" height="22" rx="3"/>"#))
        #expect(svg.contains(">24,000</text>"))
        #expect(svg.contains(">40 MB</text>"))
    }

    @Test func theTextAlternativeHasEachFigure() {
        let sentence = "Requests per second, more is better: ApiConnector 24,000, a <rival> 6,000."
        #expect(picture.description == "\(sentence) Peak memory, less is better: ApiConnector 40 MB.")
        let svg = picture.svg(.dark)
        #expect(svg.contains("<title id=\"title\">Requests per second; Peak memory</title>"))
        #expect(svg.contains("a &lt;rival&gt; 6,000."))
        #expect(svg.contains("Measured on 2026-11-23, 2 cores &amp; more.</desc>"))
    }

    @Test func theAppearancesDifferOnlyInTheirColors() throws {
        let color = try Regex("#[0-9a-f]{6}")
        let (light, dark) = (picture.svg(.light), picture.svg(.dark))
        #expect(light != dark)
        #expect(light.replacing(color, with: "") == dark.replacing(color, with: ""))
    }

    @Test func theMarkdownHasBothFilesAndTheTextAlternative() {
        let lines = picture.markdown(folder: "Benchmarks").split(separator: "\n", omittingEmptySubsequences: false)
        #expect(
            lines.prefix(2) == [
                "<picture>",
                #"  <source media="(prefers-color-scheme: dark)" srcset="Benchmarks/picture-dark.svg">"#,
            ]
        )
        #expect(lines[2].hasPrefix(#"  <img src="Benchmarks/picture-light.svg" alt="Requests per second, more"#))
        #expect(lines[2].contains("a &lt;rival&gt; 6,000."))
        #expect(lines.suffix(3) == ["</picture>", "", "Measured on 2026-11-23, 2 cores & more."])
    }
}
