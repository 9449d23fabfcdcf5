// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Backends
import Foundation
import Testing

/// How to test a screen in each of its states, as the workshop on mocking web APIs has it.
@MainActor @Suite struct FourStatesOfAScreen {
    private let pug = Pug(pugId: "tedthepug0810", name: "小巴哥", photo: "ted.jpg")

    private func screen(_ answer: TestConnectorResponse) -> PugScreen<some DataRequestType> {
        PugScreen(environment: .sample("pugs"), provider: TestConnector { _ in answer })
    }

    @Test func showsThePugsThatCome() async {
        let screen = screen(.json([pug]))
        await screen.refresh()
        #expect(screen.title == "PUG (1)")
        #expect(screen.lines == ["小巴哥  ted.jpg"])
    }

    @Test func isEmptyWithoutPugs() async {
        let screen = screen(.json([Pug]()))
        await screen.refresh()
        #expect(screen.title == "PUG")
        #expect(screen.lines == ["EMPTY"])
    }

    @Test func showsAnError() async {
        let screen = screen(.failure(URLError(.notConnectedToInternet)))
        await screen.refresh()
        #expect(screen.title == "PUG")
        #expect(screen.lines.first == "ERROR")
    }

    @Test func isLoadingForAsLongAsNothingComes() async {
        let (asked, ask) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let provider = TestConnector { _ in
            ask.yield()
            return .never
        }
        let screen = PugScreen(environment: .sample("pugs"), provider: provider)

        let refreshing = Task { await screen.refresh() }
        for await _ in asked { break }
        #expect(screen.lines == ["LOADING…"])

        refreshing.cancel()
        await refreshing.value
        #expect(screen.lines == ["LOADING…"])
    }
}
