// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The calls of one run of ``FaultTest/everyAnswerOrder(within:_:)``, and the order in which they are answered.
public final class AnswerOrder: Sendable, CustomStringConvertible {
    /// The call that this task belongs to, counted from 0.
    @TaskLocal static var call: Int?

    private let order: Locked<[Int]>
    private let calls = Locked<[HeldCall]>([])
    private let runCount = Locked(0)
    private let isHeld = Locked(false)
    /// The event that the run waits for.
    private let standing = Locked("the body has not ended")

    init(_ order: [Int]) {
        self.order = Locked(order)
    }

    /// Starts the calls one after the other, and then answers them in this run's order.
    ///
    /// Each call starts when the call before it waits for its answer. Each call is answered when the call before it in
    /// the order has ended.
    ///
    /// If a call neither sends a request nor ends, or does not end after its answer, the run's limit ends the wait. The
    /// run's error then names the call.
    ///
    /// - Parameter calls: The calls to order. Only the first request of each call is held, and only if the call sends
    ///   the request in its own task or in a child task.
    public func run(_ calls: (@Sendable () async -> Void)...) async {
        let held = calls.map { _ in HeldCall() }
        runCount.withLock { $0 += 1 }
        self.calls.withLock { $0 = held }
        let order = order.withLock { order in
            if order.count != calls.count { order = Array(calls.indices) }
            return order
        }
        await withTaskGroup(of: Void.self) { group in
            for (index, call) in calls.enumerated() {
                standing.withLock { $0 = "call \(index + 1) has neither sent a request nor ended" }
                group.addTask {
                    await Self.$call.withValue(index) { await call() }
                    held[index].hasEnded.set(())
                    held[index].hasArrived.set(())
                }
                await held[index].hasArrived.value()
            }
            for index in order {
                standing.withLock { $0 = "call \(index + 1) was answered but has not ended" }
                held[index].isReleased.set(())
                await held[index].hasEnded.value()
            }
        }
        standing.withLock { $0 = "the calls have ended, but the body has not" }
    }

    /// The order, such as `3, 1, 2`.
    public var description: String { order.withLock { $0 }.map { "\($0 + 1)" }.joined(separator: ", ") }

    var count: Int { order.withLock { $0.count } }

    /// The event that a stuck run waits for.
    var standstill: String { standing.withLock { $0 } }

    /// The reason why the run did not order any answers; nil if it did.
    var flaw: String? {
        let runCount = runCount.withLock { $0 }
        if runCount != 1 {
            return "The body called order.run(…) \(runCount) times; it must call it exactly once."
        }
        return isHeld.withLock { $0 } ? nil : "No answer was held; wrap the provider with answering(in: order)."
    }

    func currentCall() -> HeldCall? {
        guard let call = Self.call else { return nil }
        isHeld.withLock { $0 = true }
        return calls.withLock { $0.indices.contains(call) ? $0[call] : nil }
    }
}

/// A call that waits for its turn to be answered.
struct HeldCall: Sendable {
    /// Set when the call has sent a request, or has ended without one.
    let hasArrived = Eventual<Void>()
    let isReleased = Eventual<Void>()
    let hasEnded = Eventual<Void>()
}
