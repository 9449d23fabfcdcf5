// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorConformance
import ApiConnector
import ApiConnectorTesting
import Testing

/// A provider that breaks one promise, and the cases that are there to find it out.
struct Breakage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let caughtBy: Set<String>
    /// Whether a call may never end, so that a case is over by its limit alone.
    var hangs = false
    /// Cases that find it out only where things happen in a certain order.
    var mayBeCaughtBy: Set<String> = []
    let wrap: @Sendable (AnyProvider) -> AnyProvider

    /// Breaks a promise by changing the request.
    static func request(
        _ what: String,
        caughtBy cases: String...,
        change: @escaping @Sendable (inout ApiRequest) async throws -> Void
    ) -> Breakage {
        Breakage(testDescription: what, caughtBy: Set(cases)) { AnyProvider($0.rewriting(change)) }
    }

    /// Breaks a promise by changing the response.
    static func response(
        _ what: String,
        caughtBy cases: String...,
        change: @escaping @Sendable (inout ApiResponse) -> Void
    ) -> Breakage {
        whole(what, caughtBy: Set(cases)) { request, provider in
            var response = try await provider.response(for: request)
            change(&response)
            return response
        }
    }

    /// Breaks a promise by not just sending the request.
    static func whole(
        _ what: String,
        hangs: Bool = false,
        caughtBy cases: Set<String>,
        perhapsBy others: Set<String> = [],
        response: @escaping @Sendable (ApiRequest, AnyProvider) async throws -> ApiResponse
    ) -> Breakage {
        Breakage(testDescription: what, caughtBy: cases, hangs: hangs, mayBeCaughtBy: others) {
            AnyProvider(BrokenProvider($0, answer: response))
        }
    }
}

extension Breakage {
    static let all = requests + requestBodies + responses + conduct + streaming + cancelling
}

struct BrokenProvider: DataRequestType {
    let wrapped: AnyProvider
    let answer: @Sendable (ApiRequest, AnyProvider) async throws -> ApiResponse

    init(_ wrapped: AnyProvider, answer: @escaping @Sendable (ApiRequest, AnyProvider) async throws -> ApiResponse) {
        self.wrapped = wrapped
        self.answer = answer
    }

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try await ApiConnectorError.mapping(request) { try await answer(request, wrapped) }
    }
}

/// Each broken provider is found out by the cases that are meant for it, and by no others.
struct BrokenProviderTests {
    @Test func everyBreakageHasAUniqueName() {
        let names = Breakage.all.map(\.testDescription)
        #expect(names.count >= 35)
        #expect(Set(names).count == names.count)
        let cases = Set(ConformanceCase.all.map(\.name))
        for breakage in Breakage.all {
            #expect(breakage.caughtBy.isSubset(of: cases), "\(breakage): \(breakage.caughtBy.subtracting(cases))")
        }
    }

    @Test(arguments: Breakage.all.filter { !$0.caughtBy.isDisjoint(with: inMemory) })
    func everyBreakageIsDetectedInMemory(_ breakage: Breakage) async {
        let target = ConformanceTarget.testDouble { breakage.wrap(AnyProvider(TestConnector($0))) }
        await check(breakage, target, ConformanceCase.all.filter { !$0.needsWire })
    }

    // It is the suite that is under test. Foundation on Linux ends a process that does all this with it now and then.
    #if Curl && os(Linux) || !canImport(FoundationNetworking)
    @Test(arguments: onTheWire) func everyBreakageIsDetectedOverSockets(_ breakage: Breakage) async {
        let target = ConformanceTarget.transport { breakage.wrap(AnyProvider(ConformanceTests.transport())) }
        await check(breakage, target, ConformanceCase.all.filter { ConformanceTests.exclusions[$0.name] == nil })
    }

    /// All breakages in release; otherwise those that need a wire, and some of the others.
    private static let onTheWire: [Breakage] = {
        #if DEBUG
        Breakage.all.enumerated().filter { $0 % 6 == 0 || !$1.caughtBy.isSubset(of: inMemory) }.map(\.element)
        #else
        Breakage.all
        #endif
    }()
    #endif

    private static let inMemory = Set(ConformanceCase.all.filter { !$0.needsWire }.map(\.name))

    /// All in release; otherwise every fourth, from another one on for each provider.
    private static func sample(of cases: [ConformanceCase], for breakage: Breakage) -> [ConformanceCase] {
        #if DEBUG
        let start = breakage.testDescription.utf8.count
        return cases.enumerated().filter { ($0.offset + start) % 4 == 0 }.map(\.element)
        #else
        return cases
        #endif
    }

    private func check(_ breakage: Breakage, _ target: ConformanceTarget, _ cases: [ConformanceCase]) async {
        // Where a case is there to find out a provider that hangs, to be slow for once is to be found out as well.
        let meant = cases.filter { breakage.caughtBy.contains($0.name) }
        let others = cases.filter { !breakage.caughtBy.union(breakage.mayBeCaughtBy).contains($0.name) }
        let finding = await target.check(meant, within: breakage.hangs ? .milliseconds(200) : ConformanceTests.limit)
        #expect(Set(finding.failures.map(\.name)) == Set(meant.map(\.name)), "not found out: \(breakage)")
        let rest = await target.check(Self.sample(of: others, for: breakage), within: ConformanceTests.limit)
        #expect(rest.isPassed, "\(rest)")
    }
}
