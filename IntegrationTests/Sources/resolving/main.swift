// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Tests CurlProvider while a name look-up hangs. Run this program with the library HangingResolver preloaded. The
// output lists the problems. The exit status is 0 if there are none.

#if os(Linux)
import ApiConnector
import Foundation
import MisbehavingServer

let gate = try ResolverGate()
let server = try MisbehavingServer()
// The text is a constant, so no input can reach the trap.
guard let url = URL(string: "http://name.hangs.test/") else { preconditionFailure("this is a URL") }
let problems = try await Resolving(gate: gate, server: server, url: url).problems()
for problem in problems { print("error: \(problem)") }
exit(problems.isEmpty ? 0 : 1)
#else
print("resolving tests the Linux transport and runs on Linux only")
#endif
