// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

struct PlannedFaultTests {
    @Test func isCodedAsItsText() throws {
        let planned = try #require(FaultPlan.Entry("GET /teas/1 #2 truncated@12"))
        let json = try JSONEncoder().encode([planned])
        #expect(try JSONDecoder().decode([String].self, from: json) == [planned.description])
        #expect(try JSONDecoder().decode([FaultPlan.Entry].self, from: json) == [planned])
    }

    @Test(arguments: [
        "", "GET /teas/1", "GET /teas/1 #0 truncated@12", "GET /teas/1 2 truncated@12", "GET /teas/1 #2 x",
    ])
    func otherTextIsNotAPlannedFault(_ text: String) throws {
        #expect(FaultPlan.Entry(text) == nil)
        let json = try JSONEncoder().encode([text])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([FaultPlan.Entry].self, from: json) }
    }
}
