// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// When each request starts: a table of cases, each with the steps of one queue.
struct LimitQueueTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let limit: RequestLimit
        let steps: [LimitQueueRun.Step]
        let record: [String]

        init(_ name: String, _ limit: RequestLimit, _ steps: [LimitQueueRun.Step], _ record: [String]) {
            testDescription = name
            self.limit = limit
            self.steps = steps
            self.record = record
        }
    }

    private static let two = RequestLimit(concurrent: 2)
    private static let one = RequestLimit(concurrent: 1)
    private static let free = RequestLimit()
    private static let twoASecond = RequestLimit(rate: RequestRate(2, per: .seconds(1)))

    static let concurrency: [Case] = [
        Case(
            "as many as may start at once do",
            two,
            [.enter("a"), .enter("b"), .enter("c"), .at(1), .finish("a"), .at(2), .finish("b")],
            ["a@0.0", "b@0.0", "c@1.0"]
        ),
        Case(
            "first come, first served",
            one,
            [.enter("a"), .enter("b"), .enter("c"), .at(1), .finish("a"), .at(2), .finish("b")],
            ["a@0.0", "b@1.0", "c@2.0"]
        ),
        Case(
            "a higher priority goes first, and within one the order stays",
            one,
            [
                .enter("a"), .enter("low", .low), .enter("b"), .enter("high", .high), .enter("c"), .at(1), .finish("a"),
                .at(2), .finish("high"), .at(3), .finish("b"), .at(4), .finish("c"),
            ],
            ["a@0.0", "high@1.0", "b@2.0", "c@3.0", "low@4.0"]
        ),
        Case(
            "a waiter that leaves is skipped",
            one,
            [.enter("a"), .enter("b"), .enter("c"), .leave("b"), .at(1), .finish("a")],
            ["a@0.0", "c@1.0"]
        ),
        Case("a started request cannot leave", one, [.enter("a"), .leave("a")], ["a@0.0", "a had started"]),
        Case(
            "a limit of none lets one through at a time",
            RequestLimit(concurrent: 0),
            [.enter("a"), .enter("b"), .finish("a")],
            ["a@0.0", "b@0.0"]
        ),
    ]

    static let rate: [Case] = [
        Case(
            "a rate spaces evenly",
            twoASecond,
            [.enter("a"), .enter("b"), .enter("c"), .at(2)],
            ["a@0.0", "b@0.5", "c@1.0"]
        ),
        Case(
            "a burst starts at once after a pause",
            RequestLimit(rate: RequestRate(1, per: .seconds(1), burstCount: 3)),
            [.enter("a"), .enter("b"), .enter("c"), .enter("d"), .at(10), .enter("e"), .enter("f"), .at(20)],
            ["a@0.0", "b@0.0", "c@0.0", "d@1.0", "e@10.0", "f@10.0"]
        ),
        Case(
            "no duration is no limit",
            RequestLimit(rate: RequestRate(1, per: .zero)),
            [.enter("a"), .enter("b")],
            ["a@0.0", "b@0.0"]
        ),
        Case(
            "an absurd rate does not trap",
            RequestLimit(rate: RequestRate(.min, per: .seconds(Int64.max), burstCount: .max)),
            [.enter("a"), .enter("b")],
            ["a@0.0", "b@0.0"]
        ),
        Case(
            "rate and number hold together",
            RequestLimit(concurrent: 1, rate: RequestRate(1, per: .seconds(1))),
            [.enter("a"), .enter("b"), .enter("c"), .at(3), .finish("a"), .at(3.5), .finish("b"), .at(5)],
            ["a@0.0", "b@3.0", "c@4.0"]
        ),
        Case(
            "a deadline that cannot be kept is known at once",
            RequestLimit(rate: RequestRate(1, per: .seconds(1))),
            [.enter("a"), .enter("b"), .enter("c", deadline: .seconds(2)), .enter("d", deadline: .seconds(3)), .at(5)],
            ["a@0.0", "c too late", "b@1.0", "d@2.0"]
        ),
    ]

    static let deadlines: [Case] = [
        Case(
            "fails at once if a higher priority delays it past its deadline",
            RequestLimit(rate: RequestRate(1, per: .seconds(1))),
            [
                .enter("a"), .enter("b", deadline: .seconds(2)), .enter("c"), .enter("high", .high),
                .enter("d", deadline: .seconds(4)), .enter("e", deadline: .seconds(3.5)), .at(5),
            ],
            ["a@0.0", "b too late", "e too late", "high@1.0", "c@2.0", "d@3.0"]
        ),
        Case(
            "fails at once if its wait is one turn too long, even if others start in the same turn",
            RequestLimit(rate: RequestRate(1, per: .seconds(1), burstCount: 2)),
            [
                .enter("a"), .enter("b"), .enter("c", deadline: .seconds(1.5)), .enter("d", deadline: .seconds(2)),
                .enter("e", deadline: .seconds(2.5)), .at(5),
            ],
            ["a@0.0", "b@0.0", "d too late", "c@1.0", "e@2.0"]
        ),
        Case(
            "a negative rate is no limit",
            RequestLimit(rate: RequestRate(1, per: .seconds(-3))),
            [.enter("a"), .enter("b")],
            ["a@0.0", "b@0.0"]
        ),
        Case(
            "an endless rate tells a deadline",
            RequestLimit(rate: RequestRate(1, per: .seconds(Int64.max), burstCount: .max)),
            [.enter("a"), .enter("b", deadline: .seconds(1))],
            ["a@0.0", "b@0.0"]
        ),
    ]

    static let server: [Case] = [
        Case(
            "Retry-After of a 429 holds all back",
            free,
            [.enter("a"), .answer("a", 429, ["Retry-After": "3"]), .finish("a"), .enter("b"), .enter("c"), .at(5)],
            ["a@0.0", "b@3.0", "c@3.0"]
        ),
        Case(
            "Retry-After of a 503 does, too, as a date",
            free,
            [
                .enter("a"), .answer("a", 503, ["Retry-After": "Thu, 01 Jan 1970 00:00:02 GMT"]), .finish("a"),
                .enter("b"), .at(5),
            ],
            ["a@0.0", "b@2.0"]
        ),
        Case(
            "a 503 while another request succeeds comes from one of several servers",
            free,
            [
                .enter("a"), .enter("b"), .at(1), .answer("b", 200, [:]), .finish("b"),
                .answer("a", 503, ["Retry-After": "3"]), .finish("a"), .enter("c"), .at(5),
            ],
            ["a@0.0", "b@0.0", "c@1.0"]
        ),
        Case(
            "a 503 after a success that came before its request holds all back",
            free,
            [
                .enter("b"), .answer("b", 200, [:]), .finish("b"), .at(1), .enter("a"), .at(2),
                .answer("a", 503, ["Retry-After": "3"]), .finish("a"), .enter("c"), .at(9),
            ],
            ["b@0.0", "a@1.0", "c@5.0"]
        ),
        Case(
            "a 503 while others fail holds all back",
            free,
            [
                .enter("a"), .enter("b"), .at(1), .answer("b", 503, [:]), .finish("b"),
                .answer("a", 503, ["Retry-After": "3"]), .finish("a"), .enter("c"), .at(5),
            ],
            ["a@0.0", "b@0.0", "c@4.0"]
        ),
        Case(
            "a 429 while another request succeeds holds all back",
            free,
            [
                .enter("a"), .enter("b"), .at(1), .answer("b", 200, [:]), .finish("b"),
                .answer("a", 429, ["Retry-After": "3"]), .finish("a"), .enter("c"), .at(5),
            ],
            ["a@0.0", "b@0.0", "c@4.0"]
        ),
        Case(
            "Retry-After of a 200 means something else",
            free,
            [.enter("a"), .answer("a", 200, ["Retry-After": "3"]), .finish("a"), .enter("b")],
            ["a@0.0", "b@0.0"]
        ),
        Case(
            "an absurd wait is a minute",
            free,
            [
                .enter("a"), .answer("a", 429, ["Retry-After": "99999999999999999999"]), .finish("a"), .enter("b"),
                .at(100),
            ],
            ["a@0.0", "b@60.0"]
        ),
        Case(
            "starts as many as the server still accepts",
            free,
            [
                .enter("a"), .answer("a", 200, ["RateLimit": "\"default\";r=2;t=10"]), .finish("a"), .enter("b"),
                .enter("c"), .enter("d"), .at(20),
            ],
            ["a@0.0", "b@0.0", "c@0.0", "d@10.0"]
        ),
        Case(
            "those on their way are of what is left",
            free,
            [
                .enter("a"), .enter("b"), .answer("a", 200, ["RateLimit": "\"default\";r=2;t=10"]), .finish("a"),
                .enter("c"), .enter("d"), .at(20),
            ],
            ["a@0.0", "b@0.0", "c@0.0", "d@10.0"]
        ),
        Case(
            "requests that were sent before the response are already counted",
            free,
            [
                .enter("a"), .enter("b"), .answer("b", 200, ["RateLimit": "\"default\";r=2;t=10"]), .finish("b"),
                .enter("c"), .enter("d"), .enter("e"), .at(20),
            ],
            ["a@0.0", "b@0.0", "c@0.0", "d@0.0", "e@10.0"]
        ),
        Case(
            "a hold for ever is one of a year",
            RequestLimit(maximumServerHold: .seconds(Int64.max)),
            [
                .enter("a"), .answer("a", 429, ["Retry-After": "99999999999999999999"]), .finish("a"), .enter("b"),
                .enter("c", deadline: .seconds(10)), .at(31_536_000),
            ],
            ["a@0.0", "c too late", "b@31536000.0"]
        ),
        Case(
            "a negative hold is no hold",
            RequestLimit(maximumServerHold: .seconds(-5)),
            [.enter("a"), .answer("a", 429, ["Retry-After": "3"]), .finish("a"), .enter("b")],
            ["a@0.0", "b@0.0"]
        ),
        Case(
            "of two answers about one window the smaller is right",
            free,
            [
                .enter("a"), .enter("b"), .answer("b", 200, ["RateLimit": "\"default\";r=0;t=10"]),
                .answer("a", 200, ["RateLimit": "\"default\";r=5;t=10"]), .enter("c"), .at(20),
            ],
            ["a@0.0", "b@0.0", "c@10.0"]
        ),
        Case(
            "a new window starts a new count",
            free,
            [
                .enter("a"), .answer("a", 200, ["RateLimit": "\"default\";r=1;t=2"]), .at(1), .enter("b"),
                .answer("b", 200, ["RateLimit": "\"default\";r=2;t=30"]), .enter("c"), .enter("d"), .enter("e"),
                .at(40),
            ],
            ["a@0.0", "b@1.0", "c@1.0", "d@1.0", "e@31.0"]
        ),
        Case(
            "fails at once if the deadline is before the server's time, also while it waits",
            one,
            [
                .enter("a"), .enter("b", deadline: .seconds(5)), .enter("c", deadline: .seconds(9)),
                .answer("a", 429, ["Retry-After": "7"]), .finish("a"), .at(10),
            ],
            ["a@0.0", "b too late", "c@7.0"]
        ),
    ]

    @Test(arguments: concurrency + rate + deadlines + server) func startsRequestsAsTheTableSays(_ row: Case) {
        var run = LimitQueueRun(row.limit)
        for step in row.steps { run.take(step) }
        #expect(run.record == row.record)
    }
}
