// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import Foundation

/// The program's side of the preloaded library.
///
/// It reports name look-ups, and releases them.
struct ResolverGate {
    // The same number as in HangingResolver.h, which is not imported, because the library is preloaded and not linked.
    private static let arrivalsNumber: Int32 = 200
    private static let gateNumber: Int32 = 201

    private let arrivals: Int32
    private let gate: Int32

    init() throws {
        arrivals = try Self.pipe(keepingWriteEndAs: Self.arrivalsNumber)
        gate = try Self.pipe(keepingReadEndAs: Self.gateNumber)
    }

    /// Waits until another call of getaddrinfo hangs.
    ///
    /// Returns false after ten seconds.
    func nextArrival() -> Bool {
        var entry = pollfd(fd: arrivals, events: Int16(POLLIN), revents: 0)
        var byte: UInt8 = 0
        return poll(&entry, 1, 10_000) == 1 && read(arrivals, &byte, 1) == 1
    }

    /// Lets every call return.
    func open() {
        close(gate)
    }

    private static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [0, 0]
        guard Foundation.pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
        return (ends[0], ends[1])
    }

    private static func pipe(keepingWriteEndAs number: Int32) throws -> Int32 {
        let ends = try pipe()
        dup2(ends.write, number)
        close(ends.write)
        return ends.read
    }

    private static func pipe(keepingReadEndAs number: Int32) throws -> Int32 {
        let ends = try pipe()
        dup2(ends.read, number)
        close(ends.read)
        return ends.write
    }
}
#endif
