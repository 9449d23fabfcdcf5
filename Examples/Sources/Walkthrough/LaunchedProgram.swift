// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation

/// A program that was launched, and what it writes to standard output.
///
/// Through popen(3): on Linux (Swift 6.3.1) Foundation's `Process` now and then ends a process with many threads.
package final class LaunchedProgram: Sendable {
    private let queue = DispatchQueue(label: "demo.LaunchedProgram")
    // Used on the queue alone.
    private nonisolated(unsafe) let stream: UnsafeMutablePointer<FILE>

    /// Launches a program; its input is empty.
    ///
    /// - Parameters:
    ///   - path: The program.
    ///   - arguments: What it is launched with.
    ///   - environment: What is added to this process's environment.
    ///   - joinsErrors: Whether what it writes to standard error is among its lines; else it is dropped.
    package init(
        _ path: String,
        arguments: [String],
        environment: [String: String] = [:],
        joinsErrors: Bool = false
    ) throws {
        func quoted(_ text: String) -> String { "'\(text.replacingOccurrences(of: "'", with: "'\\''"))'" }
        let settings = environment.map { "\($0)=\(quoted($1))" }
        let command = (settings + ["exec"] + ([path] + arguments).map(quoted)).joined(separator: " ")
        guard let stream = popen("{ \(command)\n} </dev/null 2>\(joinsErrors ? "&1" : "/dev/null")", "r") else {
            throw CocoaError(.executableLoad)
        }
        self.stream = stream
    }

    /// The next line without its end; nil at the end of the output.
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

    /// Waits for the program's end; call it once.
    ///
    /// - Returns: Its exit status.
    package func end() async -> Int32 {
        await onQueue { [self] in (pclose(stream) >> 8) & 0xFF }
    }

    private func onQueue<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}
