// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Runs programs with `/bin/sh` through popen(3).
///
/// Foundation's `Process` can crash the calling process if that has many threads (Swift 6.3.1 on Linux).
enum Program {
    struct Failure: Error, CustomStringConvertible {
        let command: String
        let status: Int32
        let output: String

        var description: String { "'\(command)' ended with \(status): \(output.suffix(2000))" }
    }

    /// Runs a command and returns its standard output.
    ///
    /// Standard error is inherited.
    @discardableResult
    static func output(of command: String) throws -> String {
        guard let stream = popen("{ \(command)\n} </dev/null", "r") else {
            throw Failure(command: command, status: -1, output: "the program cannot be started")
        }
        var output: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&block, 1, block.count, stream), count > 0 { output += block[..<count] }
        let status = pclose(stream)
        let text = String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard status == 0 else { throw Failure(command: command, status: status >> 8, output: text) }
        return text
    }

    /// Runs a hidden subcommand of this program in its own process, and decodes its output.
    static func child<Value: Decodable>(
        _ arguments: [String],
        environment: [String: String] = [:],
        as type: Value.Type = Value.self
    ) throws -> Value {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let command = (["env"] + variables + [own, ChildCommand.name] + arguments).map(quoted).joined(separator: " ")
        return try JSONDecoder().decode(type, from: Data(try output(of: "exec \(command)").utf8))
    }

    static func quoted(_ text: String) -> String {
        "'\(text.replacing("'", with: "'\\''"))'"
    }
}

/// The error for a missing program, which says how to install it.
struct MissingProgram: Error, CustomStringConvertible {
    let description: String
}
