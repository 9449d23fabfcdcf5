// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorRecording
import ApiConnectorConformance
import ApiConnector
import ApiConnectorTesting
import Testing

/// Texts that a person sees in a log or a report.
struct ErrorTextTests {
    @Test func anErrorsDescriptionIsAlsoItsLocalizedOne() throws {
        let recording = #expect(throws: FixtureError.self) { try Recording(har: Data("no HAR".utf8)) }
        #expect(recording?.localizedDescription == recording?.description)
        let fault = try #require(URL(string: "file:///there/is/none.har"))
        let unreadable = #expect(throws: FixtureError.self) { try Recording(contentsOf: fault) }
        #expect(unreadable?.description.contains("none.har cannot be read: ") == true)
    }

    @Test func aConformanceCaseIsShownByItsName() {
        let all = ConformanceCase.all
        #expect(!all.isEmpty)
        #expect(all.map(\.description) == all.map(\.name))
    }

    @Test func everyExclusionOfTheSystemsTransportNamesACase() {
        let names = Set(ConformanceCase.all.map(\.name))
        #expect(names.isSuperset(of: SystemProvider.conformanceExclusions.keys))
        #expect(SystemProvider.conformanceExclusions.values.allSatisfy { !$0.isEmpty })
    }
}
