// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Where the library reads the time and waits: one value, handed in from outside.
///
/// Everything that waits, times out, expires or compares dates asks the connection's time source,
/// so that a test can move time by hand.
///
/// Limits and shared requests compare times of one ``scale`` only. Circuits, hosts that failed and retry budgets are kept per
/// host: use one scale for all connections that share such a provider.
public protocol TimeSource: Sendable {
    /// The time since this source started; never goes back, and goes on while the machine sleeps.
    var now: Duration { get }

    /// The wall clock's date, for dates that a server sent.
    var date: Date { get }

    /// Names the scale of ``now``: times of different scales cannot be compared.
    ///
    /// By default an object has its own scale, and all values of a struct type have one. A struct that refers to a clock
    /// returns the identifier of that clock. It holds for as long as the clock lives.
    var scale: ObjectIdentifier { get }

    /// Waits until `now` has reached a time.
    ///
    /// - Parameter deadline: A time on this source's own scale; one in the past returns at once.
    /// - Throws: `CancellationError` as soon as the task is canceled.
    func sleep(until deadline: Duration) async throws

    /// Runs an action once `now` has reached a time.
    ///
    /// The library schedules its limits of time, and sleeps for the wait before a retry: a source can tell them apart.
    /// By default an action runs in a task that sleeps until then.
    ///
    /// - Parameters:
    ///   - due: A time on this source's own scale; one in the past is due at once.
    ///   - action: What to run, at most once, on any thread; never within this call, whose caller may hold a lock.
    /// - Returns: What takes the action back; one that is due may run all the same.
    func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

extension TimeSource {
    /// The object's identity, or the type's.
    public var scale: ObjectIdentifier {
        type(of: self) is AnyClass ? ObjectIdentifier(self as AnyObject) : ObjectIdentifier(type(of: self))
    }

    /// Runs an action in a task that sleeps until then.
    public func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        // Not at the priority of the call that happens to be the first.
        let task = Task(priority: .high) {
            guard (try? await sleep(until: due)) != nil else { return }
            action()
        }
        return { task.cancel() }
    }
}

extension TimeSource where Self == SystemTimeSource {
    /// The machine's own clocks, the default everywhere.
    public static var system: SystemTimeSource { SystemTimeSource() }
}
