// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

extension ConformanceCase {
    private static let make = CaseMaker(topic: .limits)

    /// Cases about timeouts, on a virtual clock.
    static let limits: [ConformanceCase] = [
        make("times out the attempt while the server is silent", .each(.steps(.silence))) { probe in
            try await probe.demandFailure(of: .timedOut, limitedBy: (.seconds(30), nil, nil))
        },
        make("times out the attempt within the body", .each(unfinished)) { probe in
            try await probe.demandFailure(of: .timedOut, limitedBy: (.seconds(30), nil, nil))
        },
        make("times out the attempt within a stream", .each(unfinished)) { probe in
            try await probe.demandFailure(of: .timedOut, limitedBy: (.seconds(30), nil, nil), inStream: true)
        },
        make("ends a stalled call before the head", .each(.steps(.silence))) { probe in
            try await probe.demandFailure(of: .stalled, limitedBy: (nil, .seconds(30), nil))
        },
        make("ends a stalled stream", .each(unfinished)) { probe in
            try await probe.demandFailure(of: .stalled, limitedBy: (nil, .seconds(30), nil), inStream: true)
        },
        make("ends at the call's deadline while the server is silent", .each(.steps(.silence))) { probe in
            try await probe.demandFailure(of: .deadlineExceeded, limitedBy: (nil, nil, .seconds(30)))
        },
        make("ends at the call's deadline within a stream", .each(unfinished)) { probe in
            try await probe.demandFailure(of: .deadlineExceeded, limitedBy: (nil, nil, .seconds(30)), inStream: true)
        },
        make("ends at the call's deadline within the body", .each(unfinished)) { probe in
            try await probe.demandFailure(of: .deadlineExceeded, limitedBy: (nil, nil, .seconds(30)))
        },
        make("disconnects at a timeout", .each(.steps(.silence))) { probe in
            try await probe.demandFailure(of: .deadlineExceeded, limitedBy: (nil, nil, .seconds(30)))
            try await probe.log.callerLeft(0)
        },
        make(
            "does not end a slow stream as stalled",
            .each(.steps(.chunkedHead, .text("0"), .hold(0), .text("1"), .hold(1), .text("2"), .hold(2), .text("3")))
        ) { probe in
            let clock = ManualClock()
            var request = probe.request(delivery: .streamed)
            request.timeSource = clock
            let limited = AnyProvider(probe.provider).timeLimiting(stall: .seconds(60))
            var chunks = try await limited.response(for: request).body.makeAsyncIterator()
            for number in 0...3 {
                try probe.demandEqual(try await chunks.text(of: 1), "\(number)", "chunk \(number)")
                clock.advance(by: .seconds(40))
                probe.side.release(number)
            }
            try probe.demandEqual(try await chunks.next(), nil, "the element after the last chunk")
        },
    ]

    private static let unfinished = PeerAnswer.steps(.head(length: 1_000), .text("abc"), .silence)
}
