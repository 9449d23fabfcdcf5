// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import Foundation

/// Runs programs with `/bin/sh`: through Foundation's `Process` on macOS, through popen(3) on Linux.
///
/// Swift has no popen(3) on macOS. On Linux (Swift 6.3.1), `Process` lists the descriptors of the calling process, and
/// copies directory entries beyond their end. This sometimes crashes a process with many threads.
public enum Shell {
    /// Runs a command and waits for its end.
    ///
    /// - Parameter folder: The working directory.
    /// - Returns: The output, including standard error.
    /// - Throws: ``ShellError`` if the exit status is not 0.
    @discardableResult
    public static func run(_ command: String, in folder: URL) throws -> String {
        let (output, status) = try result(of: "cd '\(folder.path)' && { \(command)\n} </dev/null 2>&1")
        let text = String(decoding: output, as: UTF8.self)
        guard status == 0 else { throw ShellError(command: command, status: status, output: text) }
        return text
    }

    #if os(macOS)
    private static func result(of command: String) throws -> (output: Data, status: Int32) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.standardOutput = pipe
        try process.run()
        try pipe.fileHandleForWriting.close()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (output, process.terminationStatus)
    }
    #else
    private static func result(of command: String) throws -> (output: Data, status: Int32) {
        guard let stream = popen(command, "r") else {
            throw ShellError(command: command, status: -1, output: String(cString: strerror(errno)))
        }
        var output = Data()
        var block = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&block, 1, block.count, stream), count > 0 { output += block[..<count] }
        return (output, (pclose(stream) >> 8) & 0xFF)
    }
    #endif
}

/// A command that failed.
public struct ShellError: Error, CustomStringConvertible {
    let command: String
    let status: Int32
    let output: String

    /// The command, its status and its output.
    public var description: String { "\"\(command)\" ended with status \(status): \(output)" }
}
