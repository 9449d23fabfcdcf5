// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorTestServers
import ApiConnector
import Testing

@testable import ApiConnectorTesting

@Suite(.timeLimit(.minutes(10))) struct AnswerOrderTests {
    private let provider = TestConnector { request in
        .json(Tea(id: Int(request.url.lastPathComponent) ?? 0, name: "tea"))
    }
}

extension AnswerOrderTests {
    /// A screen that shows what was typed last, or what was answered last.
    private actor Search {
        private let shop: NetworkConnector<AnyProvider, Shop>
        private let looksAtOrder: Bool
        private var newest = 0
        private(set) var shown: Int?

        init(_ provider: some DataRequestType, looksAtOrder: Bool) {
            shop = NetworkConnector(environment: .test, provider: AnyProvider(provider))
            self.looksAtOrder = looksAtOrder
        }

        func type(_ id: Int) async {
            newest = id
            let tea = try? await shop.value(Tea.self, at: .tea(id: id))
            if !looksAtOrder || newest == id { shown = tea?.id }
        }
    }

    private func run(_ search: Search, _ order: AnswerOrder) async {
        await order.run({ await search.type(1) }, { await search.type(2) }, { await search.type(3) })
    }

    @Test func triesEveryOrder() async throws {
        let seen = Locked<[String]>([])
        let count = try await FaultTest.everyAnswerOrder { order in
            let log = Locked<[Int]>([])
            let shop = NetworkConnector(
                environment: ShopServer.test,
                provider: provider.answering(in: order),
                router: Shop.self
            )
            @Sendable func ask(_ id: Int) async {
                _ = try? await shop.data(at: .tea(id: id))
                log.withLock { $0.append(id) }
            }
            await order.run({ await ask(1) }, { await ask(2) }, { await ask(3) }, { await ask(4) })
            let asked = log.withLock { $0 }.map { "\($0)" }
            #expect(asked.joined(separator: ", ") == order.description)
            seen.withLock { $0.append(order.description) }
        }
        #expect(count == 24)
        #expect(Set(seen.withLock { $0 }).count == 24)
        #expect(seen.withLock { $0 }.first == "1, 2, 3, 4")
    }

    @Test func aLateAnswerDoesNotReplaceANewerOne() async throws {
        let count = try await FaultTest.everyAnswerOrder { order in
            let search = Search(provider.answering(in: order), looksAtOrder: true)
            await run(search, order)
            #expect(await search.shown == 3, "answered in the order \(order)")
        }
        #expect(count == 6)
    }

    @Test func findsAScreenThatShowsTheLastAnswerInsteadOfTheNewest() async throws {
        let failure = await #expect(throws: FaultFailure.self) {
            try await FaultTest.everyAnswerOrder { order in
                let search = Search(provider.answering(in: order), looksAtOrder: false)
                await run(search, order)
                if await search.shown != 3 { throw CancellationError() }
            }
        }
        #expect(
            failure?.description == """
                4 of 6 orders of answers failed:
                - 1, 3, 2: CancellationError()
                - 2, 3, 1: CancellationError()
                - 3, 1, 2: CancellationError()
                - 3, 2, 1: CancellationError()
                """
        )
    }

    @Test func callsThatSendNothingOrAreCanceledDelayNoOtherCall() async throws {
        let count = try await FaultTest.everyAnswerOrder { order in
            let shop = NetworkConnector(
                environment: ShopServer.test,
                provider: provider.answering(in: order),
                router: Shop.self
            )
            let first = Locked<Task<Void, any Error>?>(nil)
            await order.run(
                {
                    let task = Task { try await shop.send(at: .tea(id: 1)) }
                    first.withLock { $0 = task }
                    _ = await task.result
                },
                {},
                {
                    first.withLock { $0 }?.cancel()
                    _ = try? await shop.data(at: .tea(id: 3))
                }
            )
        }
        #expect(count == 6)
    }

    @Test func namesTheCallThatBlocksARun() async throws {
        let order = AnswerOrder([])
        let shop = NetworkConnector(
            environment: ShopServer.test,
            provider: provider.answering(in: order),
            router: Shop.self
        )
        let (isAnswered, mayEnd, isStuck, mayGoOn) = (Gate(), Gate(), Gate(), Gate())
        let run = Task {
            await order.run(
                {
                    _ = try? await shop.data(at: .tea(id: 1))
                    isAnswered.open()
                    try? await mayEnd.opened()
                },
                {
                    isStuck.open()
                    try? await mayGoOn.opened()
                }
            )
        }
        try await isStuck.opened()
        #expect(order.standstill == "call 2 has neither sent a request nor ended")
        mayGoOn.open()
        try await isAnswered.opened()
        #expect(order.standstill == "call 1 was answered but has not ended")
        mayEnd.open()
        await run.value
        #expect(order.standstill == "the calls have ended, but the body has not")
    }

    @Test func aRunThatDoesNotEndSaysWhy() async {
        let failure = await #expect(throws: FaultFailure.self) {
            try await FaultTest.everyAnswerOrder(within: .milliseconds(1)) { order in
                await order.run({ try? await Gate().opened() })
            }
        }
        let text = failure?.description ?? ""
        #expect(text.contains("it did not end ("))
        #expect(text.contains("call 1 has neither sent a request nor ended") || text.contains("the body has not"))
    }

    @Test func failsIfNoAnswerWasHeld() async {
        let notHeld = await #expect(throws: FaultFailure.self) {
            try await FaultTest.everyAnswerOrder { order in await order.run({}, {}) }
        }
        #expect(notHeld?.description == "No answer was held; wrap the provider with answering(in: order).")
        let notRun = await #expect(throws: FaultFailure.self) { try await FaultTest.everyAnswerOrder { _ in } }
        #expect(notRun?.description.hasPrefix("The body called order.run(…) 0 times") == true)
    }

    @Test func ordersAreAllAndDifferent() {
        #expect((0...5).map { permutations(of: $0).count } == [1, 1, 2, 6, 24, 120])
        #expect(Set(permutations(of: 5)).count == 120)
        #expect(permutations(of: 3).first == [0, 1, 2])
    }
}
