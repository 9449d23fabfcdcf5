// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import Inspector

/// Tests of the numbers that wait for a page.
struct ChangeFeedTests {
    private let changes = ChangeFeed(exchangeCount: 10)

    @Test func aPageGetsEachNumberOnce() async {
        let page = changes.open()
        for number in [2, 1, 2, 3] { changes.add(number) }
        #expect(await changes.next(page) == [1, 2, 3])
        changes.add(4)
        #expect(await changes.next(page) == [4])
        changes.close(page)
        #expect(await changes.next(page) == nil)
    }

    @Test func aPageThatDoesNotReadHasABoundedNumber() async {
        let page = changes.open()
        for number in 1...100_000 {
            changes.add(number)
            // An exchange that runs for long changes again and again.
            changes.add(1)
        }
        #expect(changes.storedCount <= 20)
        let numbers = await changes.next(page) ?? []
        #expect(numbers.suffix(10) == Array(99_991...100_000))
        #expect(changes.storedCount == 0)
    }

    @Test func withoutAPageNothingIsStored() {
        changes.add(1)
        #expect(changes.storedCount == 0)
    }
}
