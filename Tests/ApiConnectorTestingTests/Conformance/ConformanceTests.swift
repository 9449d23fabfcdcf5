// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorConformance
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// The list that every transport and every double is held to.
struct ConformanceTests {
    /// The provider that a program would have, with connections of its own; and what it cannot do here.
    #if Curl && os(Linux)
    static let exclusions =
        CurlRuntime.asksBeforeSending ? [:] : ["reuses a connection": "a POST takes a new connection"]
    static func transport() -> CurlProvider { CurlProvider(configuration: .patient) }
    #else
    static let exclusions = URLSessionProvider.conformanceExclusions
    static func transport() -> URLSessionProvider {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        return URLSessionProvider(configuration: configuration)
    }
    #endif

    /// On a busy machine, under a sanitizer, a case may stand still for a long time.
    static let limit = Duration.seconds(600)

    @Test func hasCasesOfEveryTopicWithUniqueNames() {
        let names = ConformanceCase.all.map(\.name)
        #expect(names.count >= 130)
        #expect(Set(names).count == names.count)
        for topic in ConformanceCase.Topic.allCases {
            #expect(ConformanceCase.all.count { $0.topic == topic } >= 5, "\(topic)")
        }
        // The cases that do not apply to a test double are a small part.
        #expect(ConformanceCase.all.count { $0.needsWire } < names.count / 4)
    }

    @Test func checkK_theTransportPassesEveryCase() async {
        let target = ConformanceTarget.transport { Self.transport() }
        let report = await target.check(excluding: Self.exclusions, within: Self.limit)
        #expect(report.isPassed, "\(report)")
        #expect(report.exclusions.count == Self.exclusions.count)
    }

    @Test func checkK_theTestConnectorPassesTheCasesThatNeedNoConnection() async {
        let report = await ConformanceTarget.testDouble { TestConnector($0) }.check(within: Self.limit)
        #expect(report.isPassed, "\(report)")
        #expect(Set(report.exclusions.map(\.name)) == Set(ConformanceCase.all.filter(\.needsWire).map(\.name)))
    }
}

/// A wrapper keeps the promises of its wrapped provider.
struct WrapperConformanceTests {
    struct Wrapper: CustomTestStringConvertible {
        let testDescription: String
        var exclusions: [String: String] = [:]
        let wrap: @Sendable (AnyProvider) -> AnyProvider
    }

    private static let sendsAgain = [
        "sends a request once, regardless of the status": "to send it again is what retrying is for",
        "returns the head before the body":
            "retrying waits for a stream's first chunk, up to which the request may be sent again",
    ]

    /// Three attempts and no wait between them, for what a peer says again and again.
    private static let policy = RetryPolicy(maximumAttemptCount: 3, budget: .unlimited, random: { 0 })

    static let wrappers: [Wrapper] = [
        Wrapper(testDescription: "any provider") { AnyProvider($0) },
        Wrapper(testDescription: "retrying", exclusions: sendsAgain) { AnyProvider($0.retrying(policy)) },
        Wrapper(testDescription: "authenticated") { AnyProvider(AuthenticatedAnywhere(wrapped: $0)) },
        Wrapper(testDescription: "timeLimited") { provider in
            let hour = Duration.seconds(3_600)
            return AnyProvider(provider.timeLimiting(attempt: hour, stall: hour, overall: hour * 2))
        },
        Wrapper(testDescription: "observed") { AnyProvider($0.observing(by: CallMetrics())) },
        Wrapper(testDescription: "headers") { AnyProvider($0.addingHeaders(["X-App": "conformance"])) },
        Wrapper(testDescription: "rewriting") { AnyProvider($0.rewriting { $0.headers["X-Rewritten"] = "1" }) },
        Wrapper(testDescription: "traced") { AnyProvider($0.tracing()) },
        Wrapper(testDescription: "injecting nothing") { AnyProvider($0.injecting(.none)) },
        Wrapper(testDescription: "standard", exclusions: sendsAgain) { provider in
            let source = ApiCredential.perRequest { _ in .bearer("a token") }
            return AnyProvider(
                provider.standard(policy, authenticatedBy: source, for: .connection, observedBy: CallMetrics())
            )
        },
    ]

    @Test(arguments: wrappers) func keepsThePromisesOfTheTransport(_ wrapper: Wrapper) async {
        let target = ConformanceTarget.transport(named: wrapper.testDescription) {
            wrapper.wrap(AnyProvider(ConformanceTests.transport()))
        }
        let exclusions = ConformanceTests.exclusions.merging(wrapper.exclusions) { $1 }
        let report = await target.check(excluding: exclusions, within: ConformanceTests.limit)
        #expect(report.isPassed, "\(report)")
    }

    @Test(arguments: wrappers) func keepsThePromisesOfTheTestConnector(_ wrapper: Wrapper) async {
        let target = ConformanceTarget.testDouble(named: wrapper.testDescription) { answers in
            wrapper.wrap(AnyProvider(TestConnector(answers)))
        }
        let report = await target.check(excluding: wrapper.exclusions, within: ConformanceTests.limit)
        #expect(report.isPassed, "\(report)")
    }

    @Test(arguments: sendsAgain.keys.sorted()) func retryingNeedsItsExclusions(_ name: String) async {
        let target = ConformanceTarget.testDouble { TestConnector($0).retrying(Self.policy) }
        let report = await target.check(ConformanceCase.all.filter { $0.name == name }, within: .milliseconds(500))
        #expect(report.failures.map(\.name) == [name])
    }

    @Test func theCredentialIsSentInEachCase() async throws {
        let seen = Locked<[String?]>([])
        let target = ConformanceTarget.testDouble { answers in
            AuthenticatedAnywhere(
                wrapped: TestConnector(answers).rewriting { request in
                    seen.withLock { $0.append(request.headers["Authorization"]) }
                }
            )
        }
        let report = await target.check(ConformanceCase.all.filter { $0.topic == .bodies })
        #expect(report.isPassed, "\(report)")
        #expect(seen.withLock { $0.count } >= 10)
        #expect(seen.withLock { Set($0) } == ["Bearer a token"])
    }
}

/// Sends a credential to every case's server.
private struct AuthenticatedAnywhere<Wrapped: DataRequestType>: DataRequestType {
    let wrapped: Wrapped

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        let source = ApiCredential.perRequest { _ in .bearer("a token") }
        return try await wrapped.authenticating(by: source, for: .origins(request.url)).response(for: request)
    }
}
