// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Benchmark
import MicroCases

/// Benchmarks of the parts of a call, each with a reference that is measured in the same run.
///
/// Compare a part with its reference, never with another run.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = Benchmark.Configuration(metrics: [.wallClock], maxDuration: .seconds(1))

    var references: Set<String> = []
    for microCase in MicroCase.all {
        let reference = microCase.reference
        if references.insert(reference.name).inserted {
            Benchmark("Reference: \(reference.name)") { benchmark in
                for _ in benchmark.scaledIterations { try await reference.pass() }
            }
        }
        Benchmark(microCase.name) { benchmark in
            for _ in benchmark.scaledIterations { try await microCase.pass() }
        }
    }
}
