// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation

/// A launched program and its standard output.
///
/// On macOS it uses Foundation's `Process`, because Swift has no popen(3) there. On Linux it uses popen(3), because
/// `Process` (Swift 6.3.1) sometimes ends the calling process if that has many threads.
package final class LaunchedProgram: Sendable {
    private let queue = DispatchQueue(label: "demo.LaunchedProgram")
    // Only used on the queue.
    private nonisolated(unsafe) let stream: UnsafeMutablePointer<FILE>
    #if os(macOS)
    // Only used on the queue after the start.
    private nonisolated(unsafe) let process = Process()
    #endif

    /// Launches a program whose standard input is empty.
    ///
    /// - Parameters:
    ///   - path: The path of the program.
    ///   - arguments: The arguments of the program.
    ///   - environment: Variables to add to this process's environment.
    ///   - joinsErrors: Whether the lines include standard error; otherwise it is discarded.
    package init(
        _ path: String,
        arguments: [String],
        environment: [String: String] = [:],
        joinsErrors: Bool = false
    ) throws {
        func quoted(_ text: String) -> String { "'\(text.replacingOccurrences(of: "'", with: "'\\''"))'" }
        let settings = environment.map { "\($0)=\(quoted($1))" }
        let command = (settings + ["exec"] + ([path] + arguments).map(quoted)).joined(separator: " ")
        let redirected = "{ \(command)\n} </dev/null 2>\(joinsErrors ? "&1" : "/dev/null")"
        #if os(macOS)
        let output = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", redirected]
        process.standardOutput = output
        try process.run()
        try output.fileHandleForWriting.close()
        let opened = fdopen(dup(output.fileHandleForReading.fileDescriptor), "r")
        #else
        let opened = popen(redirected, "r")
        #endif
        guard let stream = opened else { throw CocoaError(.executableLoad) }
        self.stream = stream
    }

    /// The next line without its line ending; nil at the end of the output.
    package func nextLine() async -> String? {
        await onQueue { [self] in
            var line: [UInt8] = []
            while case let byte = getc(stream), byte != EOF {
                if byte == 10 { return String(decoding: line, as: UTF8.self) }
                line.append(UInt8(truncatingIfNeeded: byte))
            }
            return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
        }
    }

    /// The rest of the lines.
    package func rest() async -> [String] {
        var lines: [String] = []
        while let line = await nextLine() { lines.append(line) }
        return lines
    }

    /// Waits until the program exits.
    ///
    /// Call it only once.
    ///
    /// - Returns: The program's exit status.
    package func end() async -> Int32 {
        await onQueue { [self] in
            #if os(macOS)
            fclose(stream)
            process.waitUntilExit()
            return process.terminationStatus
            #else
            return (pclose(stream) >> 8) & 0xFF
            #endif
        }
    }

    private func onQueue<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}
