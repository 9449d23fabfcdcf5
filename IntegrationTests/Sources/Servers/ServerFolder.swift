// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import Foundation
import Support

/// The folder of one server, with the server's settings, certificate and log.
///
/// The file `process` contains the process id.
///
/// The server's own file `<name>.pid` only shows that the server listens, because HAProxy writes this file again at
/// each reload.
///
/// When the last reference is released, the process ends and the folder is removed.
final class ServerFolder: Sendable {
    let url: URL
    private let name: String

    /// - Parameter name: The name of the program.
    init(for name: String) throws {
        self.name = name
        url = FileManager.default.temporaryDirectory.appending(path: "\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? stop("TERM")
        try? FileManager.default.removeItem(at: url)
    }

    /// Whether a program is installed.
    static func isInstalled(_ program: String) -> Bool {
        (try? Shell.run("PATH=$PATH:/usr/sbin command -v \(program)", in: URL(filePath: "/"))) != nil
    }

    /// Makes a key, and a certificate for 127.0.0.1 that is signed with that key.
    ///
    /// `server.pem` contains both, and `server.key` the key.
    ///
    /// The files of an earlier certificate are replaced atomically.
    func makeCertificate() throws {
        try Shell.run(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=server \
                -addext subjectAltName=IP:127.0.0.1 -keyout new.key -out new.crt || exit 1
            cat new.crt new.key >new.pem && mv new.key server.key && mv new.pem server.pem
            """,
            in: url
        )
    }

    /// Starts the server on free ports.
    ///
    /// Tries other ports if another program has taken one meanwhile.
    ///
    /// - Parameters:
    ///   - command: The command that runs the server in the foreground. The server writes `<name>.pid` when it listens.
    ///   - settings: The text of `<name>.conf` for these ports.
    /// - Returns: The ports.
    func start(_ command: String, portCount: Int, settings: ([UInt16]) -> String) throws -> [UInt16] {
        for attempt in 1... {
            let ports = try freePorts(portCount)
            try Data(settings(ports).utf8).write(to: url.appending(path: "\(name).conf"))
            do {
                try start(command)
                return ports
            } catch {
                guard attempt < 5 else { throw error }
            }
        }
        return []
    }

    /// Kills the server, and starts it again with the same settings.
    func restart(_ command: String) throws {
        let old = try process
        try signal(SIGKILL)
        try waitForEnd(of: old)
        try start(command)
    }

    /// Starts the server with a shell.
    ///
    /// If the test process is killed, the shell ends the server.
    private func start(_ command: String) throws {
        // The state is checked too, because a zombie can still be sent a signal. A dead test process may stay a zombie
        // as long as the server has copies of its descriptors.
        let isNeeded = "grep -qs '^State:.[^ZX]' /proc/\(getpid())/status && kill -0 $server"
        try Shell.run(
            """
            export PATH=$PATH:/usr/sbin
            rm -f \(name).pid
            setsid \(command) >output 2>notices & server=$!
            echo $server >process
            until [ -s \(name).pid ]; do
                kill -0 $server || { cat output notices; exit 1; }
                sleep 0.02
            done
            { while \(isNeeded); do sleep 1; done; kill -KILL -$server; } >/dev/null 2>&1 &
            """,
            in: url
        )
    }

    /// The server's process id, which is also the id of its process group.
    var process: pid_t {
        get throws {
            let text = try String(contentsOf: url.appending(path: "process"), encoding: .utf8)
            guard let process = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
                throw ServerError(text: "\(name) was not started")
            }
            return process
        }
    }

    /// Sends a signal for a reload or for an immediate end.
    ///
    /// - Parameter isForAll: Whether the server's workers get the signal, too; false by default.
    func signal(_ signal: Int32, toAll isForAll: Bool = false) throws {
        let process = try process
        guard kill(isForAll ? -process : process, signal) == 0 else {
            throw ServerError(text: "\(name) cannot be signaled: \(String(cString: strerror(errno)))")
        }
    }

    /// Waits until a process has ended.
    func waitForEnd(of process: pid_t) throws {
        try Shell.run("while grep -qs '^State:.[^ZX]' /proc/\(process)/status; do sleep 0.02; done", in: url)
    }

    /// Ends the server by a signal and waits until the server and its workers have ended.
    ///
    /// Does nothing if the server has ended. HAProxy loses a signal that arrives while it restarts for a reload, so the
    /// signal is sent until it works.
    func stop(_ signal: String) throws {
        try Shell.run(
            """
            server=$(cat process) || exit 0
            while kill -\(signal) $server && grep -q '^State:.[^ZX]' /proc/$server/status; do sleep 0.02; done
            rm -f process
            """,
            in: url
        )
    }
}

/// The error of a test's server.
public struct ServerError: Error, CustomStringConvertible {
    let text: String

    /// The text.
    public var description: String { text }
}
#endif
