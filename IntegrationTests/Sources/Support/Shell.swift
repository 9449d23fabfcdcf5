// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import Foundation

/// A program run by `/bin/sh`, through popen(3).
///
/// Foundation's `Process` is not used: on Linux (Swift 6.3.1) it lists the process's descriptors by copying directory
/// entries past their end, which now and then ends a process with many threads.
public enum Shell {
    /// Runs a command to its end.
    ///
    /// - Parameter folder: Where it runs.
    /// - Returns: What it said, errors included.
    /// - Throws: ``ShellError`` where it ends with another status than 0.
    @discardableResult
    public static func run(_ command: String, in folder: URL) throws -> String {
        guard let stream = popen("cd '\(folder.path)' && { \(command)\n} </dev/null 2>&1", "r") else {
            throw ShellError(command: command, status: -1, output: String(cString: strerror(errno)))
        }
        var output = Data()
        var block = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&block, 1, block.count, stream), count > 0 { output += block[..<count] }
        let status = (pclose(stream) >> 8) & 0xFF
        let text = String(decoding: output, as: UTF8.self)
        guard status == 0 else { throw ShellError(command: command, status: status, output: text) }
        return text
    }
}

/// A command that failed.
public struct ShellError: Error, CustomStringConvertible {
    let command: String
    let status: Int32
    let output: String

    /// The command, its status and what it said.
    public var description: String { "\"\(command)\" ended with status \(status): \(output)" }
}
