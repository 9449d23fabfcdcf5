// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The source of time and waits in the library, which the caller passes in.
///
/// All waits, time limits, expiries and date comparisons use the connection's time source, so that a test can use a
/// virtual clock.
///
/// Limiting and deduplicating providers only compare times of one ``scale``. Circuit breakers, failovers and retry
/// budgets store times per host. So all connections that share one of these have to use the same scale.
public protocol TimeSource: Sendable {
    /// The time since this source started; never goes back, and continues while the system sleeps.
    var now: Duration { get }

    /// The date of the wall clock, for comparing dates from a server.
    var date: Date { get }

    /// Identifies the scale of ``now``: times of different scales cannot be compared.
    ///
    /// By default, each object has its own scale, and all values of a struct type share a scale. A struct that contains
    /// a reference to a clock should return the identifier of that clock. The identifier is valid as long as the clock
    /// lives.
    var scale: ObjectIdentifier { get }

    /// Waits until `now` reaches a time.
    ///
    /// - Parameter deadline: A time on this source's scale; a time in the past returns immediately.
    /// - Throws: `CancellationError` as soon as the task is canceled.
    func sleep(until deadline: Duration) async throws

    /// Runs an action when `now` reaches a time.
    ///
    /// The library schedules its time limits with this function, and uses `sleep` for the wait before a retry. So a
    /// time source can distinguish the two. By default, an action runs in a task that sleeps.
    ///
    /// - Parameters:
    ///   - due: A time on this source's scale; a time in the past is due immediately.
    ///   - action: Runs at most once, on any thread; never within this call, whose caller may hold a lock.
    /// - Returns: A function that cancels the action; an action that is already due may still run.
    func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

extension TimeSource {
    /// The object's identity, or the type's.
    public var scale: ObjectIdentifier {
        type(of: self) is AnyClass ? ObjectIdentifier(self as AnyObject) : ObjectIdentifier(type(of: self))
    }

    /// Runs an action in a task that sleeps until its time.
    public func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        // A fixed priority, because the call that happens to be first may have a low one.
        let task = Task(priority: .high) {
            guard (try? await sleep(until: due)) != nil else { return }
            action()
        }
        return { task.cancel() }
    }
}

extension TimeSource where Self == SystemTimeSource {
    /// The clocks of the system, the default everywhere.
    public static var system: SystemTimeSource { SystemTimeSource() }
}
