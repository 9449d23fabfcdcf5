// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnectorTesting
import Synchronization
import TestSupport
import Testing

@testable import ApiConnector

/// The waits of time limits for a loop that takes long.
@Suite(.timeLimit(.minutes(10))) struct CurlWatchdogTests {
    /// No call is stuck: the loop's thread makes short calls one after the other, until the wait has ended.
    @Test func aWaitEndsWhileTheLoopMakesShortCalls() async throws {
        let (isBusy, hasEnded) = (Gate("busy loop"), Gate("end of the wait"))
        let isOver = Atomic(false)
        let queue = try CurlCommandQueue(CurlConfiguration())
        let loop = try #require(queue.loop)
        defer {
            isOver.store(true, ordering: .releasing)
            queue.post(.stop)
        }
        queue.post(
            .readPending {
                isBusy.open()
                while !isOver.load(ordering: .acquiring) { loop.calling {} }
            }
        )
        try await isBusy.opened()
        queue.readPending { hasEnded.open() }
        try await hasEnded.opened()
    }

    /// A flood may begin long after its call, and without a limit.
    @Test func theWatchStartsWhenBytesArrive() async throws {
        let (received, mayAnswer) = (Gate("request"), Gate("end of the first watch"))
        let server = try LoopbackServer { connection in
            guard let request = try connection.readRequest() else { return }
            received.open()
            try connection.wait(for: mayAnswer)
            try connection.send(.text("ok"), answering: request)
        }
        let provider = CurlProvider(configuration: .patient)
        let queue = try provider.engine.startedQueue()
        let loop = try #require(queue.loop)
        let url = server.url()
        // The call has started when the task waits for the first time. The task goes on in the turn of the response.
        let isWatched = Task(executorPreference: InlineExecutor()) {
            _ = try await provider.response(for: ApiRequest(url: url))
            return loop.isTurn && loop.watchdog.isRunning
        }
        try await received.opened()
        // The watch of the call.
        await eventually { !loop.watchdog.isRunning }
        mayAnswer.open()
        #expect(try await isWatched.value)
        withExtendedLifetime(server) {}
    }

    @Test func theProcessorTimesOfTwoThreadsAreNotCompared() {
        let earlier = CurlWatchdog.CallState(number: 1, isTurn: true, clock: 1, processorTime: 5)
        var now = CurlWatchdog.CallState(number: 3, isTurn: true, clock: 1, processorTime: 9)
        #expect(now.processorTime(since: earlier) == 4)
        now.clock = 2
        #expect(now.processorTime(since: earlier) == nil)
    }

    /// Between two turns, the thread that had the turn may run the caller's code.
    @Test func onlyTheTimeOfATurnCounts() {
        let earlier = CurlWatchdog.CallState(number: 1, isTurn: true, clock: 1, processorTime: 5)
        let now = CurlWatchdog.CallState(number: 2, isTurn: false, clock: 1, processorTime: 9)
        #expect(now.processorTime(since: earlier) == nil)
    }
}
#endif
