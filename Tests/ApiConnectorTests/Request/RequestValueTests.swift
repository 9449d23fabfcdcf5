// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Foundation
import Testing

/// The values and the ID that a request carries through its providers.
struct RequestValueTests {
    private enum Tenant: RequestValueKey {
        static let defaultValue = "none"
    }

    private enum Depth: RequestValueKey {
        static let defaultValue = 0
    }

    @Test func aValueThatIsSetToItsDefaultIsRemoved() {
        var values = RequestValues().setting(Tenant.self, to: "acme").setting(Depth.self, to: 2)
        values[Tenant.self] = "none"
        #expect(values[Tenant.self] == "none")
        #expect(values == RequestValues().setting(Depth.self, to: 2))
        values[Depth.self] = 0
        #expect(values == RequestValues())
    }

    @Test func aRequestWithoutAConnectionKeepsItsCallID() {
        var request = ApiRequest(url: URL(filePath: "/"))
        let id = request.callID()
        #expect(request.callID() == id)
    }
}
