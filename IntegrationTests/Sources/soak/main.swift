// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation
import MisbehavingServer
import Servers
import Support
import Synchronization

if CommandLine.arguments.dropFirst().first == "latency" {
    let problems = try await Latency.report()
    for problem in problems { print("error: \(problem)") }
    exit(problems.isEmpty ? 0 : 1)
}

switch CommandLine.arguments.dropFirst().first {
case "disk-cache":
    let problems = try await DiskCacheSoak.problems(afterKilling: 1_000, program: CommandLine.arguments[0])
    for problem in problems { print("error: \(problem)") }
    exit(problems.isEmpty ? 0 : 1)
case "floods":
    let problems = try await FloodLateness.report()
    for problem in problems { print("error: \(problem)") }
    exit(problems.isEmpty ? 0 : 1)
case "reloads":
    let count = CommandLine.arguments.dropFirst(2).first.map { Int($0) } ?? 100_000
    guard let count, count > 0 else {
        print("usage: soak reloads [CALLS]")
        exit(2)
    }
    exit(try await reloads(count) ? 0 : 1)
case "stress":
    let seed = CommandLine.arguments.dropFirst(2).first.map { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)
    guard let seed else {
        print("usage: soak stress [SEED]")
        exit(2)
    }
    try await Stress.run(seed: seed)
case "disk-cache-work":
    try await DiskCacheSoak.work(in: CommandLine.arguments[2])
default:
    break
}

/// Prints the result of each load, and returns whether there was no problem.
func reloads(_ count: Int) async throws -> Bool {
    let reloads = Reloads(count: count, between: 2_000)
    var isRight = true
    func judge(_ report: Reloads.Report) {
        print(report.name)
        for problem in report.problems { print("error: \(problem)") }
        fflush(nil)
        isRight = isRight && report.problems.isEmpty
    }
    for method in [HTTPMethod.get, .post] {
        for wire in Wire.allCases { judge(try await reloads.ofNginx(method, over: wire)) }
        for wire in Wire.secure { judge(try await reloads.ofHAProxy(method, over: wire)) }
    }
    return isRight
}

guard let requestCount = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }), requestCount > 2_000 else {
    print(
        "usage: soak REQUESTS, more than 2000\n       soak latency\n       soak floods\n       soak disk-cache\n       soak reloads\n       soak stress [SEED]"
    )
    exit(2)
}
let inFlight = 64
let soak = Soak(requestCount, over: try MisbehavingServer())
Watchdog.start(endedCount: { soak.endedCount.load(ordering: .relaxed) })

await soak.run(until: 1_000, inFlight: inFlight)
try await Task.sleep(for: .milliseconds(100))
let first = try Footprint()
let start = ContinuousClock.now
await soak.run(until: requestCount, inFlight: inFlight)
let seconds = (ContinuousClock.now - start) / .seconds(1)
// The sizes of the allocator's arenas differ by some megabytes. For each idle connection, both descriptors may be open
// or closed.
let tolerance = Footprint.Tolerance(memoryByteCount: 16 << 20, descriptorCount: 2 * inFlight)
let (last, excess) = try await Footprint.settled(near: first, tolerance)

let result = soak.result
for (name, count) in result.counts.sorted(by: { $0.key < $1.key }) { print("\(count)\t\(name)") }
var problems = result.surprises.prefix(10).map { "surprise: \($0)" }
let delays = result.delays.mapValues { Percentiles($0) }
for (way, delay) in delays.sorted(by: { $0.key < $1.key }) { print("\(way): \(delay)") }
if let cancel = delays["cancel"], cancel.high > 50 {
    problems.append("a cancel must be answered within 50 ms, 95 times of 100")
}
if let stall = delays["stall"], let short = delays["short"], !stall.isSoon(after: short) {
    problems.append("95 of 100 stalls must be answered within 50 ms and twice the time of 95 of 100 short calls")
}
print("\(Int(Double(requestCount - 1_000) / seconds)) calls a second")
print("after 1000 calls:    \(first)")
print("after \(requestCount) calls: \(last)")

if result.surprises.count > 10 { problems.append("and \(result.surprises.count - 10) more surprises") }
let endedCount = result.counts.values.reduce(0, +)
if endedCount != requestCount { problems.append("\(requestCount) calls were made, but \(endedCount) ended") }
problems += excess
for problem in problems { print("error: \(problem)") }
exit(problems.isEmpty ? 0 : 1)
#else
print("soak tests the Linux transport and runs on Linux only")
#endif
