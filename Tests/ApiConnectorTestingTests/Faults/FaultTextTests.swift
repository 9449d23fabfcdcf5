// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

@testable import ApiConnectorTesting

struct FaultTextTests {
    static let effects: [Fault.Effect] = [
        .refused, .reset, .timeout, .stall, .truncated, .malformed, .garbage, .status(503),
        .status(429, retryAfter: .seconds(2)),
    ]
    static let places: [Fault.Place] = [.beforeSending, .head, .byte(0), .byte(12), .end]

    @Test func everyFaultReadsBackFromItsText() throws {
        var texts: Set<String> = []
        for effect in Self.effects {
            for place in Self.places {
                let fault = Fault(effect, at: place)
                #expect(Fault(fault.description) == fault)
                let json = try JSONEncoder().encode([fault])
                #expect(try JSONDecoder().decode([Fault].self, from: json) == [fault])
                texts.insert(fault.description)
            }
        }
        // Refused has one place, a status two, all others five.
        #expect(texts.count == 1 + 6 * 5 + 2 * 2)
        #expect(texts.isSuperset(of: ["refused@send", "truncated@12", "stall@end", "503@head", "429+2@send"]))
    }

    @Test(arguments: [
        "", "reset", "reset@", "@head", "reset@-1", "reset@middle", "broken@head", "503+@head", "503+-1@head",
        "503+1+2@head",
        "refused@head", "503@12", "reset@head@end", " reset@head",
    ])
    func otherTextIsNotAFault(_ text: String) {
        #expect(Fault(text) == nil)
    }

    @Test func aRetryAfterIsInWholeSecondsRoundedUp() {
        let fault = Fault(.status(503, retryAfter: .milliseconds(1200)), at: .end)
        #expect(fault == Fault(.status(503, retryAfter: .seconds(2)), at: .head))
    }

    /// No wait that can be written or computed traps, and each printed fault can be read back.
    @Test(arguments: [.seconds(-1), .zero, .seconds(1e19), .seconds(Int64.max), .nanoseconds(1)] as [Duration])
    func aRetryAfterIsFromZeroToAYear(_ wait: Duration) throws {
        let fault = Fault(.status(503, retryAfter: wait), at: .beforeSending)
        #expect(Fault(fault.description) == fault)
        guard case .status(_, let seconds?) = fault.effect else { throw CancellationError() }
        #expect((.zero ... .seconds(365 * 86_400)).contains(seconds))
        #expect(
            Fault("503+9223372036854775807@send") == Fault(.status(503, retryAfter: .seconds(1e9)), at: .beforeSending)
        )
    }

    @Test func everyPlanReadsBackFromItsText() throws {
        let plans = [
            FaultPlan.none,
            FaultPlan([FaultPlan.Entry("GET /teas/1?x=%3B%20", call: 2, Fault(.truncated, at: .byte(12)))]),
            FaultPlan([
                FaultPlan.Entry("POST /teas~00ff00ff00ff00ff", Fault(.status(503), at: .head)),
                FaultPlan.Entry("GET /teas", Fault(.refused, at: .beforeSending)),
            ]),
            .percent(10, seed: .max),
            .percent(0, seed: 0, of: []),
        ]
        for plan in plans {
            #expect(FaultPlan(plan.description) == plan)
            #expect(try JSONDecoder().decode(FaultPlan.self, from: JSONEncoder().encode(plan)) == plan)
        }
        #expect(plans[1].source == #"FaultPlan("GET /teas/1?x=%3B%20 #2 truncated@12")"#)
        #expect(plans[4].description == "0% seed 0 of ")
    }

    @Test(arguments: [
        "GET", "GET /teas reset@head", "GET /teas #0 reset@head", "GET /teas #1 reset", "GET /teas #1 reset@head;",
        "10% seed 1", "10% seed x of reset@head", "101% seed 1 of reset@head", "10% seed 1 of broken@head",
    ])
    func otherTextIsNotAPlan(_ text: String) {
        #expect(FaultPlan(text) == nil)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([FaultPlan].self, from: JSONEncoder().encode([text]))
        }
    }
}
