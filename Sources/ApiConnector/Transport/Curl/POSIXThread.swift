// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// Starts threads with `pthread_create`, which reports a failure.
///
/// Foundation's `Thread` does not report a failure, and then never runs.
enum POSIXThread {
    /// Starts a thread.
    ///
    /// - Returns: 0 or the error code.
    static func start(named name: String, stackByteCount: Int, _ body: @escaping @Sendable () -> Void) -> Int32 {
        let work = Unmanaged.passRetained(Work(name: name, body: body))
        let code = withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { buffer in
            guard let attributes = buffer.baseAddress else { return ENOMEM }
            pthread_attr_init(attributes)
            defer { pthread_attr_destroy(attributes) }
            pthread_attr_setstacksize(attributes, stackByteCount)
            pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
            var thread: pthread_t = 0
            return pthread_create(&thread, attributes, Self.run, work.toOpaque())
        }
        if code != 0 { work.release() }
        return code
    }

    private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        guard let context else { return nil }
        let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
        pthread_setname_np(pthread_self(), work.name)
        work.body()
        return nil
    }

    private final class Work: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}

#endif
