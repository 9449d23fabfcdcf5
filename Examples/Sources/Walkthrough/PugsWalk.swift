// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
package import Backends

extension Walk {
    /// Walks through the pugs of the workshop: the list, one pug, and a pug that does not exist.
    package func pugs(_ environment: BackendEnvironment, over provider: some DataRequestType) async {
        let api = NetworkConnector(
            environment: environment,
            provider: JournalingProvider(provider, journal: journal),
            router: PugRouter.self
        )
        begin("The pugs", at: environment)

        await step {
            try await api.value([Pug].self, at: .list)
        } check: { pugs in
            try expect(pugs.map(\.pugId), is: ["tedthepug0810", "maxthepug"], "the ids")
            return "\(pugs.count) pugs: \(pugs.map(\.name).joined(separator: ", "))"
        }
        await step {
            try await api.value(PugInfo.self, at: .info(id: "tedthepug0810"))
        } check: { pug in
            try expect(pug.name, is: "小巴哥", "the name")
            return "\(pug.name): \(pug.about)"
        }
        await failingStep {
            try await api.value(PugInfo.self, at: .info(id: "cat"))
        } check: { error in
            try expect(error.response?.status, is: 404, "the status")
            return "not found, as expected; the error:"
        }
    }
}
