// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

#if os(macOS) || os(Linux)
/// A program run by `/bin/sh`: through Foundation's `Process` on macOS, through popen(3) on Linux.
///
/// Swift has no popen(3) on macOS. On Linux (Swift 6.3.1), `Process` lists the process's descriptors by copying directory
/// entries past their end, which now and then ends a process with many threads.
package struct Shell: ~Copyable {
    private let stream: UnsafeMutablePointer<FILE>
    private var isOpen = true
    #if os(macOS)
    private let process = Process()
    #endif

    /// Starts a command; its input is empty, and its errors are dropped.
    package init(_ command: String) throws {
        #if os(macOS)
        let output = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        try output.fileHandleForWriting.close()
        stream = try Self.opened(fdopen(dup(output.fileHandleForReading.fileDescriptor), "r"))
        #else
        stream = try Self.opened(popen("{ \(command)\n} </dev/null 2>/dev/null", "r"))
        #endif
    }

    private static func opened(_ stream: UnsafeMutablePointer<FILE>?) throws -> UnsafeMutablePointer<FILE> {
        guard let stream else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return stream
    }

    deinit {
        if isOpen { close() }
    }

    /// The next line of the output without its end; nil at the end of the output.
    package func line() -> String? {
        var line: [UInt8] = []
        while case let byte = getc(stream), byte != EOF {
            if byte == 10 { return String(decoding: line, as: UTF8.self) }
            line.append(UInt8(truncatingIfNeeded: byte))
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    /// The rest of the output.
    package func rest() -> Data {
        var output = Data()
        var block = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&block, 1, block.count, stream), count > 0 { output += block[..<count] }
        return output
    }

    /// Waits for the end; the exit status.
    package consuming func end() -> Int32 {
        isOpen = false
        return close()
    }

    @discardableResult
    private func close() -> Int32 {
        #if os(macOS)
        fclose(stream)
        process.waitUntilExit()
        return process.terminationStatus
        #else
        return (pclose(stream) >> 8) & 0xFF
        #endif
    }
}
#endif
