// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorConformance
import ApiConnector
import ApiConnectorTesting
import Testing

struct ConformanceReportTests {
    /// Never answers until it is released.
    private struct Deaf: DataRequestType {
        let end: Gate

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            await Task { [end] in try? await end.opened() }.value
            throw ApiConnectorError(.other, "the provider was released")
        }
    }

    private let few = ConformanceCase.all.filter { $0.topic == .statuses }

    @Test func readsAsAList() async {
        let target = ConformanceTarget.testDouble(named: "a double") { TestConnector($0) }
        let cases = ConformanceCase.all.filter { $0.topic == .bodies }
        let report = await target.check(cases, excluding: ["delivers an empty body": "it never has one"])
        #expect(
            report.description == """
                a double: 12 of 16 cases passed, 4 excluded
                  bodies           12 of 16
                  excluded: it never has one
                    - delivers an empty body
                  excluded: the case needs bytes on a connection, and this target has no connection
                    - joins chunks and drops chunk extensions
                    - reads a body without a length until the connection closes
                    - understands HTTP/1.0
                """
        )
    }

    @Test func showsTheObservationOfAFailure() async {
        let target = ConformanceTarget.testDouble(named: "a teapot") { _ in TestConnector { _ in .status(418) } }
        let report = await target.check(
            ConformanceCase.all.filter { $0.name == "delivers the body of a 404 and a 500" }
        )
        #expect(!report.isPassed)
        #expect(
            report.description == """
                a teapot: 0 of 1 cases passed, 1 FAILED
                  bodies           0 of 1
                  FAILED: delivers the body of a 404 and a 500
                    the body of the 404 is , not lost
                """
        )
    }

    @Test func refusesExclusionsWithoutAReasonOrACase() async {
        let target = ConformanceTarget.testDouble { TestConnector($0) }
        let unnamed = await target.check(few, excluding: ["no such case": "it is not there"])
        #expect(unnamed.flaws == ["the excluded case “no such case” does not exist"])
        #expect(!unnamed.isPassed)
        let unreasoned = await target.check(few, excluding: [few[0].name: " "])
        #expect(unreasoned.flaws == ["the exclusion of “\(few[0].name)” has no reason"])
        #expect(!unreasoned.isPassed)
    }

    @Test func doesNotPassWithoutAPassedCase() async {
        let target = ConformanceTarget.testDouble { TestConnector($0) }
        #expect(await !target.check([]).isPassed)
        #expect(await !target.check([few[0]], excluding: [few[0].name: "it is out"]).isPassed)
        #expect(await target.check([few[0]]).isPassed)
    }

    @Test func abandonsACaseThatDoesNotEnd() async {
        let end = Gate("end of the provider")
        let target = ConformanceTarget.transport { Deaf(end: end) }
        let report = await target.check([few[0]], within: .milliseconds(50))
        end.open()
        #expect(report.failures.map(\.whatWasSeen) == ["the case did not end within 0.05 seconds"])
    }

    @Test func abandonsACaseWhoseProviderIsNeverMade() async {
        let end = Gate("end of the making")
        let target = ConformanceTarget.testDouble { answers in
            await Task { try? await end.opened() }.value
            return TestConnector(answers)
        }
        let report = await target.check([few[0]], within: .milliseconds(50))
        end.open()
        #expect(report.failures.map(\.whatWasSeen) == ["the case did not end within 0.05 seconds"])
    }

    @Test func failsTheCasesOfAProviderThatCannotBeMade() async {
        struct Missing: Error, CustomStringConvertible { let description = "there is no server here" }
        let target = ConformanceTarget.testDouble { _ -> TestConnector<ConformanceAnswers> in throw Missing() }
        let report = await target.check([few[0]])
        #expect(report.failures.map(\.whatWasSeen) == ["there is no server here"])
    }

    @Test func checksAUsersOwnServer() async {
        let target = ConformanceTarget.served(named: "served") { answers in
            let place = URL(string: "http://elsewhere.example:81/") ?? URL(filePath: "/")
            return (TestConnector(answers), place)
        }
        let report = await target.check(few)
        #expect(report.isPassed, "\(report)")
        let seen = Locked<Set<String?>>([])
        _ = await ConformanceTarget.served { answers in
            (
                TestConnector(answers).rewriting { request in
                    seen.withLock { _ = $0.insert(request.url.host()) }
                },
                URL(string: "http://elsewhere.example:81/") ?? URL(filePath: "/")
            )
        }.check(few)
        #expect(seen.withLock { $0 } == ["elsewhere.example"])
    }
}
