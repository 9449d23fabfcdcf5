// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

struct CurlWaitingQueueTests {
    private typealias Line = CurlWaitingQueue<Int>
    private let sequential = Line.Group(mayMultiplex: false)

    @Test func admitsAllCallsWithoutALimit() {
        var line = Line(maximumConnectionCount: nil, maximumConnectionCountPerHost: nil)
        let entered = (0..<1000).filter { line.enter($0, sequential) }
        #expect(entered.count == 1000)
        #expect(!line.isLimited)
    }

    @Test func servesInOrder() {
        var line = Line(maximumConnectionCount: 2, maximumConnectionCountPerHost: nil)
        let entered = (0..<100).filter { line.enter($0, sequential) }
        #expect(entered == [0, 1])
        var served: [Int] = []
        for _ in 0..<100 {
            line.leave(sequential)
            while let next = line.next() { served.append(next.call) }
        }
        #expect(served == Array(2..<100))
        #expect(line.waitingCount == 0)
    }

    /// A hundred on each connection, as libcurl has them; plain HTTP beside them counts for itself.
    @Test func aHundredCallsShareAConnectionOverHTTP2() {
        var line = Line(maximumConnectionCount: 2, maximumConnectionCountPerHost: nil)
        let shared = Line.Group(mayMultiplex: true)
        #expect((0..<1000).filter { line.enter($0, shared) }.count == 2)
        let early = line.next()
        #expect(early == nil)
        let isNew = [line.share(shared), line.share(shared), line.share(sequential)]
        #expect(isNew == [true, false, false])
        var startedCount = 2
        while line.next() != nil { startedCount += 1 }
        #expect(startedCount == 200)
        #expect(line.waitingCount == 800)
        #expect((0..<1000).filter { line.enter($0, sequential) }.count == 2)
    }

    @Test func aHostThatSpeaksHTTP1HasOneCallPerConnection() {
        var line = Line(maximumConnectionCount: nil, maximumConnectionCountPerHost: 2)
        let (one, two) = (Line.Group(mayMultiplex: true, host: "one"), Line.Group(mayMultiplex: true, host: "two"))
        _ = line.share(one)
        #expect((0..<300).filter { line.enter($0, one) }.count == 200)
        #expect((0..<300).filter { line.enter($0, two) }.count == 2)
    }

    @Test func oneHostDoesNotDelayAnother() {
        var line = Line(maximumConnectionCount: 3, maximumConnectionCountPerHost: 2)
        let one = Line.Group(mayMultiplex: false, host: "one")
        let two = Line.Group(mayMultiplex: false, host: "two")
        #expect((0..<5).filter { line.enter($0, one) } == [0, 1])
        #expect((5..<8).filter { line.enter($0, two) } == [5])
        line.leave(two)
        #expect(line.next()?.call == 6)
        #expect(line.next() == nil)
        line.leave(one)
        #expect(line.next()?.call == 2)
    }

    @Test func removedCallsAreForgotten() {
        var line = Line(maximumConnectionCount: 1, maximumConnectionCountPerHost: nil)
        for number in 0..<10 { _ = line.enter(number, sequential) }
        #expect(line.removeAll { $0.isMultiple(of: 2) } == [2, 4, 6, 8])
        #expect(line.waitingCount == 5)
        line.leave(sequential)
        #expect(line.next()?.call == 1)
    }

    @Test(arguments: [0, -1, Int.max]) func acceptsEveryLimit(_ limit: Int) {
        var line = Line(maximumConnectionCount: limit, maximumConnectionCountPerHost: limit)
        #expect((0..<100).filter { line.enter($0, Line.Group(mayMultiplex: true)) }.count == 100)
    }
}
