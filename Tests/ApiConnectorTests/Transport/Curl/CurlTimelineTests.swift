// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

/// How moments and libcurl's figures become phases, without libcurl.
struct CurlTimelineTests {
    private static let second: Int64 = 1_000_000_000

    private func phases(
        _ timeline: CurlTimeline,
        endingAt end: Int64,
        _ figures: CurlTimeline.Figures? = nil
    ) -> [TransportTimes.Phase: Int64] {
        var times = TransportTimes()
        timeline.write(to: &times, at: end * Self.second, figures)
        var phases: [TransportTimes.Phase: Int64] = [:]
        for phase in TransportTimes.Phase.allCases {
            phases[phase] = times[phase].map { Int64($0 / .seconds(1)) }
        }
        return phases
    }

    /// Moments in seconds; nil for one that was not reached.
    private func timeline(
        lookup: Int64? = nil,
        connect: Int64? = nil,
        handshake: Int64? = nil,
        send: Int64? = nil,
        sent: Int64? = nil,
        isSending: Bool = false,
        firstByte: Int64? = nil
    ) -> CurlTimeline {
        func nanoseconds(_ time: Int64?) -> Int64 { (time ?? 0) * Self.second }
        var timeline = CurlTimeline(start: 10 * Self.second)
        timeline.lookup = nanoseconds(lookup)
        timeline.connect = nanoseconds(connect)
        timeline.handshake = nanoseconds(handshake)
        timeline.send = nanoseconds(send)
        timeline.sent = nanoseconds(sent ?? send)
        timeline.isSending = isSending
        timeline.firstByte = nanoseconds(firstByte)
        return timeline
    }

    @Test func aCallThatEndsBeforeItIsSentIsInTheLastPhaseThatItReached() {
        #expect(phases(timeline(), endingAt: 14) == [.waiting: 4])
        #expect(phases(timeline(lookup: 11), endingAt: 14) == [.waiting: 1, .nameLookup: 3])
        #expect(
            phases(timeline(lookup: 11, connect: 13), endingAt: 14) == [.waiting: 1, .nameLookup: 2, .connecting: 1]
        )
        #expect(
            phases(timeline(lookup: 10, connect: 11, handshake: 12), endingAt: 16)
                == [.waiting: 0, .nameLookup: 1, .connecting: 1, .tlsHandshake: 4]
        )
    }

    @Test func aReusedConnectionHasOnlyTheWaitForIt() {
        #expect(
            phases(timeline(send: 12, firstByte: 15), endingAt: 16)
                == [.waiting: 2, .sending: 0, .responseWait: 3, .receiving: 1]
        )
    }

    @Test func libcurlsTimesOfANewConnectionAreNotAWait() {
        let figures = CurlTimeline.Figures(nameLookup: 1_000_000, connect: 3_000_000, tlsHandshake: 6_000_000)
        #expect(
            phases(timeline(lookup: 12, connect: 13, handshake: 15, send: 18, firstByte: 19), endingAt: 21, figures)
                == [
                    .waiting: 2, .nameLookup: 1, .connecting: 2, .tlsHandshake: 3, .sending: 0, .responseWait: 1,
                    .receiving: 2,
                ]
        )
        let plain = CurlTimeline.Figures(nameLookup: 1_000_000, connect: 3_000_000)
        #expect(phases(timeline(send: 13, firstByte: 14), endingAt: 14, plain)[.tlsHandshake] == nil)
    }

    @Test func aCallThatIsStoppedAfterItsConnectionWasMadeHasThePhasesByItsOwnClock() {
        #expect(
            phases(timeline(lookup: 11, connect: 12, handshake: 14, send: 17), endingAt: 20)
                == [
                    .waiting: 1, .nameLookup: 1, .connecting: 2, .tlsHandshake: 3, .sending: 0, .responseWait: 3,
                ]
        )
    }

    @Test func sendingTheBodyIsNotAWaitForTheResponse() {
        #expect(phases(timeline(send: 11, sent: 12, isSending: true), endingAt: 15) == [.waiting: 1, .sending: 4])
        #expect(
            phases(timeline(send: 11, sent: 12), endingAt: 15) == [.waiting: 1, .sending: 1, .responseWait: 3]
        )
    }

    @Test func aResponseThatComesBeforeTheWholeBodyWasSentHasNoNegativePhase() {
        #expect(
            phases(timeline(send: 11, sent: 14, isSending: true, firstByte: 12), endingAt: 15)
                == [.waiting: 1, .sending: 1, .responseWait: 0, .receiving: 3]
        )
        let late = CurlTimeline.Figures(nameLookup: 9_000_000, connect: 8_000_000, tlsHandshake: 7_000_000)
        let phases = phases(timeline(send: 11, firstByte: 12), endingAt: 11, late)
        #expect(phases.values.allSatisfy { $0 >= 0 }, "\(phases)")
    }

    @Test func aRequestThatIsSentAgainKeepsItsStart() {
        var timeline = timeline(lookup: 11, connect: 12, send: 13, firstByte: 14)
        timeline.restart()
        #expect(timeline == self.timeline())
    }
}
