// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

struct ResumePointTests {
    @Test(arguments: [
        ("", nil), ("7", nil), (String(repeating: "a", count: 4096), nil),
        (String(repeating: "a", count: 5 << 20), "the ID of the last event is longer than 4096 bytes"),
        ("a\u{1b}", "the ID of the last event holds a control character"),
    ])
    func sendsNoEventIDThatAServerWouldRefuse(_ id: String, _ obstacle: String?) {
        #expect(ResumePoint(lastEventID: id).eventIDObstacle == obstacle)
    }
}
