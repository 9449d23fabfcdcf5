// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

@testable import ApiConnectorTesting

struct FaultShareTests {
    /// The numbers of the calls with one request that go wrong.
    private func struck(_ plan: FaultPlan, _ request: String, of calls: ClosedRange<Int>) throws -> [Int] {
        let key = try ExchangeKey(request: request)
        return calls.filter { plan.fault(for: key, fullCall: $0, shortCall: $0) != nil }
    }

    @Test(arguments: [(10, 10), (5, 20), (25, 4), (30, 10), (100, 1), (0, 1), (7, 100)])
    func aPercentageIsExactInEachBlockOfEqualRequests(_ percent: Int, _ blockLength: Int) throws {
        for seed in UInt64(0)..<10 {
            let plan = FaultPlan.percent(percent, seed: seed)
            let calls = try struck(plan, "GET /teas/\(seed)", of: 1...300)
            for block in 0..<300 / blockLength {
                let first = block * blockLength + 1
                #expect(calls.count { (first..<first + blockLength).contains($0) } == percent * blockLength / 100)
            }
        }
    }

    @Test func seedAndRequestDetermineWhichCallsFail() throws {
        let plan = FaultPlan.percent(10, seed: 1)
        let here = try struck(plan, "GET /teas/1", of: 1...100)
        #expect(try struck(plan, "GET /teas/1", of: 1...100) == here)
        #expect(try struck(plan, "GET /teas/2", of: 1...100) != here)
        #expect(try struck(.percent(10, seed: 2), "GET /teas/1", of: 1...100) != here)
        // A block does not repeat the one before it.
        #expect(Set(here.map { $0 % 10 }).count > 3)
    }

    @Test func overDifferentRequestsThePercentageHoldsOnAverage() throws {
        let plan = FaultPlan.percent(10, seed: 7)
        let struck = try (0..<4_000).filter { try !self.struck(plan, "GET /items/\($0)", of: 1...1).isEmpty }
        #expect((300...500).contains(struck.count))
    }

    @Test func everyFaultOfTheListOccurs() throws {
        let plan = FaultPlan.percent(100, seed: 3)
        let key = try ExchangeKey(request: "GET /teas")
        let faults = Set((1...500).compactMap { plan.fault(for: key, fullCall: $0, shortCall: $0) })
        #expect(faults == Set(Fault.transient))
    }

    @Test func aChoiceOverKnownExchangesIsExactAndIndependentOfTheirOrder() throws {
        var exchanges = try (0..<200).map {
            FaultInjector.Exchange.known(try ExchangeKey(request: "GET /items/\($0)"), byteCount: 10)
        }
        for percent in [0, 1, 10, 33, 100] {
            let plan = FaultPlan(percent, of: exchanges, .transient, 42)
            #expect(plan.faults.count == percent * 2)
            #expect(Set(plan.faults.map(\.request)).count == percent * 2)
            exchanges.reverse()
            #expect(FaultPlan(percent, of: exchanges, .transient, 42) == plan)
        }
        let struck = (UInt64(0)..<20).map { seed in
            Set(FaultPlan(10, of: exchanges, .transient, seed).faults.map(\.request))
        }
        #expect(Set(struck).count == 20)
    }

    @Test func concurrentCallsFailAlikeInEveryOrder() async throws {
        func struck() async -> Set<String> {
            let provider = TestConnector { _ in .json(Tea.green) }
                .injecting(.percent(20, seed: 5, of: [Fault(.reset, at: .head)]))
            let shop = NetworkConnector(environment: ShopServer.test, provider: provider, router: Shop.self)
            return await withTaskGroup(of: String?.self) { group in
                for number in (0..<300).shuffled() {
                    group.addTask {
                        let route = number.isMultiple(of: 2) ? Shop.tea(id: number) : .add(Tea(id: number, name: "tea"))
                        return await (try? shop.send(at: route)) == nil ? "\(number)" : nil
                    }
                }
                return await group.reduce(into: []) { if let number = $1 { $0.insert(number) } }
            }
        }
        let first = await struck()
        #expect((30...90).contains(first.count))
        for _ in 0..<5 { #expect(await struck() == first) }
    }
}

extension ExchangeKey {
    /// The key of a request that is written as in a plan.
    init(request: String) throws {
        let words = request.split(separator: " ").map(String.init)
        let url = try #require(URL(string: "https://shop.example.com" + words[1]))
        self.init(ApiRequest(url: url, method: HTTPMethod(rawValue: words[0])))
    }
}

extension FaultInjector.Exchange {
    /// A first exchange that brought a whole body.
    static func known(_ key: ExchangeKey, byteCount: Int) -> Self {
        var exchange = Self(key: key, call: 1)
        exchange.hasHead = true
        exchange.byteCount = byteCount
        exchange.isWhole = true
        return exchange
    }
}
