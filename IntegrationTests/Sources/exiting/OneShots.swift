// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import Foundation

/// Runs one-shot programs, four at a time.
final class OneShots: Sendable {
    private let server: ExitServer

    init(server: ExitServer) {
        self.server = server
    }

    /// Runs a number of programs.
    ///
    /// - Returns: A text for each program that ended wrongly.
    func run(_ count: Int) -> [String] {
        let (lock, problems) = (NSLock(), Problems())
        DispatchQueue.concurrentPerform(iterations: 4) { lane in
            for number in stride(from: lane, to: count, by: 4) {
                let url = server.url.absoluteString
                // Within a lane, `number % 4` is always the same, so all of its programs would end in the same way.
                // `number / 4` counts up.
                let program = ["one", url, server.authority.path, String(number / 4)]
                let (status, output) = Self.run(program)
                guard status != 0 || !output.contains("status 200") || !output.contains(OneShot.lastLine) else {
                    continue
                }
                lock.withLock {
                    problems.texts.append("program \(number / 4): status \(status), output \(output.debugDescription)")
                }
            }
        }
        return problems.texts
    }

    private final class Problems: @unchecked Sendable {
        // These texts are used only under the lock of `run`.
        var texts: [String] = []
    }

    private static let spawning = NSLock()

    /// Runs this program again with other arguments.
    ///
    /// - Returns: The output, and the status from waitpid. If a signal ended the program, the status contains the
    ///   signal.
    private static func run(_ arguments: [String]) -> (status: Int32, output: String) {
        var ends: [Int32] = [0, 0]
        // No other child may inherit the pipe. Otherwise the pipe would not end when this child ends.
        spawning.lock()
        guard pipe(&ends) == 0 else {
            spawning.unlock()
            return (errno, "pipe failed")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var pointers = (["exiting"] + arguments).map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        var child = pid_t()
        let code = posix_spawn(&child, "/proc/self/exe", &actions, nil, &pointers, environ)
        spawning.unlock()
        close(ends[1])
        defer { close(ends[0]) }
        guard code == 0 else { return (code, "posix_spawn failed") }
        var (output, block) = (Data(), [UInt8](repeating: 0, count: 4096))
        while case let count = read(ends[0], &block, block.count), count > 0 { output += block[..<count] }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        return (status, String(decoding: output, as: UTF8.self))
    }
}
#endif
