// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Runs programs that make one call over TLS and exit, and reports programs that end wrongly.
//
//     exiting [COUNT]                        runs COUNT programs, 200 by default
//     exiting one URL CA-FILE NUMBER         runs one such program

#if os(Linux)
import Foundation

let arguments = CommandLine.arguments
if arguments.count == 5, arguments[1] == "one", let url = URL(string: arguments[2]), let number = Int(arguments[4]) {
    let program = OneShot(number: number)
    program.run(url, trusting: URL(filePath: arguments[3]))
    if program.ending == .exitOnMain { exit(0) }
} else {
    let count = arguments.count > 1 ? Int(arguments[1]) ?? 200 : 200
    let problems = try OneShots(server: ExitServer()).run(count)
    for problem in problems.prefix(20) { print("error: \(problem)") }
    print("\(count) programs have exited, \(problems.count) of them wrongly")
    exit(problems.isEmpty ? 0 : 1)
}
#else
print("exiting tests the Linux transport and runs on Linux only")
#endif
