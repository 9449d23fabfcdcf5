// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import goals

struct BoundsTests {
    private let table = """
        # A comment.
        lines | by hand | 2.5

        events | by hand | 4

        """

    private func ratio(_ name: String, _ value: Double) -> MicroRatio {
        MicroRatio(name: name, reference: "by hand", value: value)
    }

    @Test func passesARatioWithinItsBound() throws {
        let bounds = try Bounds(parsing: table)
        #expect(bounds.problems(of: [ratio("lines", 2.5), ratio("events", 1)]).isEmpty)
    }

    @Test func failsOnARatioOverItsBound() throws {
        let bounds = try Bounds(parsing: table)
        #expect(
            bounds.problems(of: [ratio("lines", 2.51), ratio("events", 1)])
                == ["lines: 2.51 × of by hand, and at most 2.50 × is allowed"]
        )
        #expect(bounds.problems(of: [ratio("lines", .nan), ratio("events", 1)]).count == 1)
        #expect(bounds.isOver(ratio("lines", 2.51)) && !bounds.isOver(ratio("lines", 2.5)))
    }

    @Test func failsOnARowThatIsOnOneSideOnly() throws {
        let bounds = try Bounds(parsing: table)
        #expect(
            bounds.problems(of: [ratio("lines", 1), ratio("text", 1)]) == [
                "text, over by hand: the table has no bound",
                "events: the table has a bound, but there is no such case",
            ]
        )
        #expect(
            bounds.problems(of: [MicroRatio(name: "lines", reference: "another", value: 1), ratio("events", 1)]).count
                == 1
        )
    }

    @Test(arguments: ["lines | by hand", "lines | by hand | much", "lines | by hand | 0", "a | b | 1\na | b | 1"])
    func refusesATableThatSaysNothing(text: String) {
        #expect(throws: Bounds.Malformed.self) { try Bounds(parsing: text) }
    }

    @Test func readsWhatItWrites() throws {
        let ratios = [ratio("lines", 2), ratio("events", 0.41)]
        let bounds = try Bounds(parsing: Bounds.table(of: ratios, room: 1.5))
        #expect(bounds.problems(of: [ratio("lines", 3), ratio("events", 0.61)]).isEmpty)
        #expect(bounds.problems(of: [ratio("lines", 3.01), ratio("events", 0.63)]).count == 2)
    }
}
