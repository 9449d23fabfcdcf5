// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// What CurlProvider does while a name is being looked up for ever. To be run with the library HangingResolver
// preloaded; ends with status 0 if all is as it should be, and says what is not.

#if os(Linux)
import ApiConnector
import Foundation
import MisbehavingServer

let gate = try ResolverGate()
let server = try MisbehavingServer()
// A constant: no input reaches the trap.
guard let url = URL(string: "http://name.hangs.test/") else { preconditionFailure("this is a URL") }
let problems = try await Resolving(gate: gate, server: server, url: url).problems()
for problem in problems { print("error: \(problem)") }
exit(problems.isEmpty ? 0 : 1)
#else
print("resolving is about the Linux transport, and runs on Linux only")
#endif
