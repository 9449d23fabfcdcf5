// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// A table of cases: when a circuit opens, which requests it then sends, and when it closes; time is a parameter.
struct CircuitTests {
    enum Step: Sendable {
        case at(Double)
        /// A request is admitted under a name.
        case send(String)
        case succeed(String)
        case fail(String)
        case forget(String)
        /// This number of requests, one after the other.
        case succeeding(Int)
        case failing(Int)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let policy: CircuitPolicy
        let steps: [Step]
        /// The result of each named request, and the state of the circuit.
        let record: [String]

        init(_ name: String, _ policy: CircuitPolicy = .small, _ steps: [Step], _ record: [String]) {
            testDescription = name
            self.policy = policy
            self.steps = steps
            self.record = record
        }
    }

    static let cases: [Case] = [
        Case("too few requests say nothing", .small, [.failing(3), .send("a")], ["a passes"]),
        Case(
            "a share of failures opens it",
            .small,
            [.failing(4), .send("a")],
            ["opened", "a is refused from 0.0 to 10.0"]
        ),
        Case(
            "exactly the share opens it, at the failure that makes it",
            .small,
            [.succeeding(2), .failing(2), .send("a")],
            ["opened", "a is refused from 0.0 to 10.0"]
        ),
        Case("less than the share does not", .small, [.succeeding(3), .failing(2), .send("a")], ["a passes"]),
        Case("a success never opens it", .small, [.failing(3), .succeeding(1), .send("a")], ["a passes"]),
        Case(
            "old failures are forgotten",
            .small,
            [.failing(3), .at(21), .failing(1), .send("a")],
            ["a passes"]
        ),
        Case(
            "those within the window are not",
            .small,
            [.failing(3), .at(19), .failing(1), .send("a")],
            ["opened", "a is refused from 19.0 to 29.0"]
        ),
        Case(
            "a result that says nothing about the host does not count",
            .small,
            [.failing(3), .send("a"), .forget("a"), .send("b")],
            ["a passes", "b passes"]
        ),
        Case(
            "one request probes the host, and its success closes it",
            .small,
            [.failing(4), .at(9.9), .send("a"), .at(10), .send("b"), .send("c"), .succeed("b"), .send("d")],
            [
                "opened", "a is refused from 0.0 to 10.0", "b probes", "c is refused from 0.0 to 10.0", "closed",
                "d passes",
            ]
        ),
        Case(
            "a failed probe opens it again",
            .small,
            [.failing(4), .at(12), .send("a"), .at(15), .fail("a"), .at(24), .send("b"), .at(25), .send("c")],
            ["opened", "a probes", "opened", "b is refused from 15.0 to 25.0", "c probes"]
        ),
        Case(
            "a canceled probe leaves the probe to the next request",
            .small,
            [.failing(4), .at(10), .send("a"), .forget("a"), .send("b"), .send("c")],
            ["opened", "a probes", "b probes", "c is refused from 0.0 to 10.0"]
        ),
        Case(
            "results of requests that were sent before it opened do not count",
            .small,
            [
                .send("a"), .send("b"), .failing(4), .succeed("a"), .at(10), .send("c"), .fail("b"), .send("d"),
                .succeed("c"),
            ],
            ["a passes", "b passes", "opened", "c probes", "d is refused from 0.0 to 10.0", "closed"]
        ),
        Case(
            "failures from before it closed again do not count",
            .small,
            [.failing(4), .at(10), .send("a"), .succeed("a"), .failing(3), .send("b")],
            ["opened", "a probes", "closed", "b passes"]
        ),
        Case(
            "if it needs several probes, all of them must succeed",
            .small { $0.probeCount = 2 },
            [
                .failing(4), .at(10), .send("a"), .send("b"), .send("c"), .succeed("a"), .send("d"), .succeed("b"),
                .send("e"),
            ],
            [
                "opened", "a probes", "b probes", "c is refused from 0.0 to 10.0", "d is refused from 0.0 to 10.0",
                "closed", "e passes",
            ]
        ),
        Case(
            "another is let through where the one that tries it hangs",
            .small,
            [
                .failing(4), .at(10), .send("a"), .at(19.9), .send("b"), .at(20), .send("c"), .send("d"),
                .succeed("c"), .send("e"), .fail("a"), .send("f"),
            ],
            [
                "opened", "a probes", "b is refused from 0.0 to 10.0", "c probes", "d is refused from 0.0 to 10.0",
                "closed", "e passes", "f passes",
            ]
        ),
        Case(
            "open for ever is for a year",
            .small { $0.openDuration = .seconds(Int64.max) },
            [.failing(4), .send("a"), .at(31_536_000), .send("b")],
            ["opened", "a is refused from 0.0 to 31536000.0", "b probes"]
        ),
        Case(
            "a window for ever does not trap",
            .small { $0.window = .seconds(Int64.max) },
            [.failing(3), .at(31_536_000), .failing(1), .send("a")],
            ["opened", "a is refused from 31536000.0 to 31536010.0"]
        ),
        Case("a window of less than none does not trap", .small { $0.window = .seconds(-1) }, [.failing(3)], []),
        Case(
            "absurd settings do not trap",
            CircuitPolicy(
                failureShare: .nan,
                window: .zero,
                minimumCount: .min,
                openDuration: .seconds(-1),
                probeCount: 0
            ),
            [.failing(2), .send("a")],
            ["a passes"]
        ),
    ]

    @Test(arguments: cases) func doesAsItsPolicySays(_ row: Case) {
        var circuit = Circuit(row.policy)
        var now = Duration.zero
        var numbers: [String: Int] = [:]
        var record: [String] = []
        func send(_ name: String?) {
            let text: String
            switch circuit.admit(now: now) {
            case .pass(let number):
                text = "passes"
                numbers[name ?? ""] = number
            case .probe(let number):
                text = "probes"
                numbers[name ?? ""] = number
            case .refuse(let since, let until):
                text = "is refused from \(since / .seconds(1)) to \(until / .seconds(1))"
            }
            if let name { record.append("\(name) \(text)") }
        }
        func end(_ name: String, _ outcome: Circuit.Outcome) {
            guard let number = numbers.removeValue(forKey: name) else { return }
            if let event = circuit.record(outcome, of: number, now: now) { record.append("\(event)") }
        }
        for step in row.steps {
            switch step {
            case .at(let seconds): now = .milliseconds(Int64(seconds * 1000))
            case .send(let name): send(name)
            case .succeed(let name): end(name, .success)
            case .fail(let name): end(name, .failure)
            case .forget(let name): end(name, .nothing)
            case .succeeding(let count):
                for _ in 0..<count {
                    send(nil)
                    end("", .success)
                }
            case .failing(let count):
                for _ in 0..<count {
                    send(nil)
                    end("", .failure)
                }
            }
        }
        #expect(record == row.record)
    }
}

extension CircuitPolicy {
    /// Half of at least four within 20 seconds; open for 10.
    static let small = CircuitPolicy(window: .seconds(20), minimumCount: 4, openDuration: .seconds(10))

    static func small(_ change: (inout CircuitPolicy) -> Void) -> CircuitPolicy {
        var policy = small
        change(&policy)
        return policy
    }
}
