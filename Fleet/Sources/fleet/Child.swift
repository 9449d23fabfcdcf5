// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation

/// A process of the fleet: this program with other arguments.
///
/// Its output goes to a file.
struct Child: Sendable {
    let process: pid_t
    private let output: URL

    init(_ arguments: [String]) throws {
        let program = Bundle.main.executablePath ?? CommandLine.arguments[0]
        output = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-fleet-\(UUID().uuidString)")
        let texts = ([program] + arguments).map { strdup($0) }
        defer { for text in texts { free(text) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.path(percentEncoded: false), flags, 0o600)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        var process = pid_t()
        let code = posix_spawn(&process, program, &actions, nil, texts + [nil], [nil])
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        self.process = process
    }

    /// How the process ended, and its output; nil while it runs.
    func end() -> (signal: Int32, status: Int32, text: String)? {
        var status: Int32 = 0
        guard waitpid(process, &status, WNOHANG) == process else { return nil }
        let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
        try? FileManager.default.removeItem(at: output)
        return (status & 0x7F, (status >> 8) & 0xFF, text)
    }

    /// Waits for the end of the process.
    func waitForEnd() async throws -> (signal: Int32, status: Int32, text: String) {
        while true {
            if let end = end() { return end }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Kills the process if it has not ended.
    func kill() {
        // If the process has already ended, there is nothing to kill and nothing to wait for.
        var status: Int32 = 0
        guard waitpid(process, &status, WNOHANG) == 0 else { return }
        Foundation.kill(process, SIGKILL)
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        try? FileManager.default.removeItem(at: output)
    }
}
