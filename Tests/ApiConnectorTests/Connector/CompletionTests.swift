// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Dispatch
import Testing

/// An actor whose jobs run on an identifiable queue.
private actor Desk {
    nonisolated let queue = MarkedQueue("desk")
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    private(set) var notes: [String] = []

    func note(_ text: String) { notes.append(text) }

    /// Runs a call whose handler is this actor's own: it changes the actor's state without `await`.
    func hear(_ start: @Sendable (_ desk: isolated Desk, _ done: @escaping (String) -> Void) -> CallHandle) async
        -> String
    {
        await withCheckedContinuation { continuation in
            _ = start(self) { [queue] text in
                self.notes.append(text)
                continuation.resume(returning: queue.isCurrent ? text : "\(text) on another queue")
            }
        }
    }
}

/// A serial queue that says whether the caller is on it.
private final class MarkedQueue: SerialExecutor {
    let queue: DispatchQueue
    private let key = DispatchSpecificKey<Bool>()

    init(_ label: String) {
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: key, value: true)
    }

    var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

struct CompletionTests {
    private typealias Api = NetworkConnector<TestConnector<ClosureResponses>, Enveloped<DataEnvelope<CodedFailure>>>
    private typealias Outcome<Value: Sendable> = Result<Value, ApiConnectorError>

    private let api = Api(DataEnvelope<CodedFailure>.self, answering: #"{"data":{"id":1}}"#)
    private let url = URL(string: "http://api.example.com/it?x") ?? URL(fileURLWithPath: "/")
    private let queue = MarkedQueue("completions")

    private static func words<Value>(_ result: Outcome<Value>, _ show: (Value) -> String) -> String {
        switch result {
        case .success(let value): "success " + show(value)
        case .failure(let error): "failure \(error.kind)"
        }
    }

    // MARK: On an actor

    @Test func everyCallWithARouteCompletesOnTheCallersActor() async {
        let desk = Desk()
        let api = api
        let found = [
            await desk.hear { desk, done in
                api.value(Item.self, at: Enveloped()) { done(Self.words($0) { "\($0.id)" }) }
            },
            await desk.hear { desk, done in
                api.response(of: Item.self, at: Enveloped()) { done(Self.words($0) { "\($0.value.id)" }) }
            },
            await desk.hear { desk, done in
                api.response(at: Enveloped()) { done(Self.words($0) { "\($0.status.rawValue)" }) }
            },
            await desk.hear { desk, done in api.data(at: Enveloped()) { done(Self.words($0) { "\($0.count)" }) } },
            await desk.hear { desk, done in api.send(at: Enveloped()) { done(Self.words($0) { "" }) } },
            await desk.hear { desk, done in
                api.outcome(Item.self, at: Enveloped()) { done("success \((try? $0.get())?.id ?? 0)") }
            },
        ]
        #expect(found == ["success 1", "success 1", "success 200", "success 17", "success ", "success 1"])
        #expect(await desk.notes == found)
    }

    @Test func anyOtherCallCompletesOnTheCallersActor() async {
        let desk = Desk()
        let (api, url) = (api, url)
        let found = [
            await desk.hear { desk, done in
                api.start {
                    try await $0.value(Item.self, at: url)
                } completion: {
                    done(Self.words($0) { "\($0.id)" })
                }
            },
            await desk.hear { desk, done in
                api.start {
                    try await $0.response(at: url)
                } completion: {
                    done(Self.words($0) { $0.url.query() ?? "" })
                }
            },
            await desk.hear { desk, done in
                api.start {
                    try await $0.send(at: url, method: .post)
                } completion: {
                    done(Self.words($0) { "" })
                }
            },
            await desk.hear { desk, done in
                api.start {
                    await $0.outcome(Item.self, at: url)
                } completion: {
                    done(Self.words($0) { "\((try? $0.get())?.id ?? 0)" })
                }
            },
            await desk.hear { desk, done in
                api.start {
                    try await $0.string(at: Enveloped())
                } completion: {
                    done(Self.words($0) { $0 })
                }
            },
            await desk.hear { desk, done in
                api.start {
                    let first = try await $0.value(Item.self, at: Enveloped())
                    return try await $0.value(Item.self, at: url).id + first.id
                } completion: {
                    done(Self.words($0) { "\($0)" })
                }
            },
        ]
        #expect(
            found == ["success 1", "success x", "success ", "success 1", #"success {"data":{"id":1}}"#, "success 2"]
        )
        #expect(await desk.notes == found)
    }

    @Test func anErrorThatIsNotOfTheLibraryIsMapped() async {
        let desk = Desk()
        let api = api
        let found = [
            await desk.hear { desk, done in
                api.start { _ -> Int in
                    throw CancellationError()
                } completion: {
                    done(Self.words($0) { "\($0)" })
                }
            },
            await desk.hear { desk, done in
                api.start { _ -> Int in
                    throw URLError(.networkConnectionLost)
                } completion: {
                    done(Self.words($0) { "\($0)" })
                }
            },
        ]
        #expect(found == ["failure cancelled", "failure connectionLost"])
    }

    @Test func anotherActorCanBeNamed() async {
        let desk = Desk()
        let (reports, report) = AsyncStream.makeStream(of: Bool.self)
        _ = await api.send(at: Enveloped(), isolation: desk) { @Sendable [queue = desk.queue] _ in
            report.yield(queue.isCurrent)
        }
        let isOnDesk = await reports.first { _ in true }
        #expect(isOnDesk == true)
    }

    @Test func completesWithoutAnActor() async {
        let count = await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
            api.data(at: Enveloped(), isolation: nil) { continuation.resume(returning: (try? $0.get())?.count ?? 0) }
        }
        #expect(count == 17)
    }

    // MARK: On a queue

    private func hear(
        _ start: (_ queue: DispatchQueue, _ done: @escaping @Sendable (String) -> Void) -> CallHandle
    ) async -> String {
        await withCheckedContinuation { continuation in
            _ = start(queue.queue) { [queue] text in
                continuation.resume(returning: queue.isCurrent ? text : "\(text) on another queue")
            }
        }
    }

    @Test func everyCallCompletesOnTheQueue() async {
        let found = [
            await hear { queue, done in
                api.start(on: queue) {
                    try await $0.value(Item.self, at: Enveloped())
                } completion: {
                    done(Self.words($0) { "\($0.id)" })
                }
            },
            await hear { queue, done in
                api.start(on: queue) { [url] in
                    try await $0.response(of: Item.self, at: url)
                } completion: {
                    done(Self.words($0) { "\($0.value.id)" })
                }
            },
            await hear { queue, done in
                api.start(on: queue) {
                    try await $0.send(at: Enveloped())
                } completion: {
                    done(Self.words($0) { "" })
                }
            },
            await hear { queue, done in
                api.start(on: queue) {
                    await $0.outcome(Item.self, at: Enveloped())
                } completion: {
                    done(Self.words($0) { "\((try? $0.get())?.id ?? 0)" })
                }
            },
        ]
        #expect(found == ["success 1", "success 1", "success ", "success 1"])
    }

    // MARK: Canceling

    @Test func aCancelIsReportedOnceAndAtOnce() async throws {
        let isAsked = Gate("request")
        let api = Api(
            environment: Place(),
            provider: TestConnector { _ in
                isAsked.open()
                return .never
            }
        )
        let calls = Locked(0)
        let (kinds, report) = AsyncStream.makeStream(of: ApiConnectorError.Kind?.self)
        let handle = api.start(on: queue.queue) {
            try await $0.send(at: Enveloped())
        } completion: { result in
            calls.withLock { $0 += 1 }
            if case .failure(let error) = result { report.yield(error.kind) } else { report.yield(nil) }
        }
        try await isAsked.opened()
        handle.cancel()
        handle.cancel()
        let first = await kinds.first { _ in true }
        #expect(first == .some(.cancelled))
        handle.cancel()
        queue.queue.sync {}
        #expect(calls.withLock { $0 } == 1)
    }

    @Test func aCancelBeforeTheCallBeginsIsReportedToo() async {
        let api = Api(environment: Place(), provider: TestConnector { _ in .never })
        let kind = await withCheckedContinuation {
            (continuation: CheckedContinuation<ApiConnectorError.Kind?, Never>) in
            api.start(on: queue.queue) {
                try await $0.value(Item.self, at: Enveloped())
            } completion: {
                if case .failure(let error) = $0 { continuation.resume(returning: error.kind) }
            }.cancel()
        }
        #expect(kind == .cancelled)
    }

    @Test func aCancelAfterTheEndHasNoEffect() async {
        let calls = Locked(0)
        let handle = await withCheckedContinuation { (continuation: CheckedContinuation<CallHandle?, Never>) in
            let box = Locked<CallHandle?>(nil)
            let isStored = DispatchSemaphore(value: 0)
            let handle = api.start(on: queue.queue) {
                try await $0.send(at: Enveloped())
            } completion: { _ in
                calls.withLock { $0 += 1 }
                isStored.wait()
                continuation.resume(returning: box.withLock { $0 })
            }
            box.withLock { $0 = handle }
            isStored.signal()
        }
        handle?.cancel()
        queue.queue.sync {}
        #expect(handle != nil)
        #expect(calls.withLock { $0 } == 1)
    }

    @Test func releasingTheHandleDoesNotCancelTheCall() async throws {
        let gate = Gate()
        let api = Api(
            environment: Place(),
            provider: TestConnector { _ in
                try await gate.opened()
                return .json(["data": Item(id: 2)])
            }
        )
        let (values, report) = AsyncStream.makeStream(of: Int.self)
        _ = api.start(on: queue.queue) {
            try await $0.value(Item.self, at: Enveloped())
        } completion: {
            report.yield((try? $0.get())?.id ?? 0)
        }
        gate.open()
        #expect(await values.first { _ in true } == 2)
    }
}
