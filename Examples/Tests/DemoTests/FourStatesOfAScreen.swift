// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestScopes
import ApiConnectorTesting
import Backends
import Foundation
import Testing

/// How to test a screen in each of its states, as in the workshop on mocking web APIs.
@MainActor @Suite(.scripted) struct FourStatesOfAScreen {
    private let pug = Pug(pugId: "tedthepug0810", name: "小巴哥", photo: "ted.jpg")
    private let script = Script(for: PugRouter.self, in: .sample("pugs"))

    private func screen() -> PugScreen<some DataRequestType> {
        PugScreen(environment: script.environment, provider: TestConnector(script))
    }

    @Test func showsThePugsThatCome() async {
        script.on(.list).answer([pug])
        let screen = screen()
        await screen.refresh()
        #expect(screen.title == "PUG (1)")
        #expect(screen.lines == ["小巴哥  ted.jpg"])
    }

    @Test func isEmptyWithoutPugs() async {
        script.on(.list).answer([Pug]())
        let screen = screen()
        await screen.refresh()
        #expect(screen.title == "PUG")
        #expect(screen.lines == ["EMPTY"])
    }

    @Test func showsAnError() async {
        script.on(.list).answer(.failure(URLError(.notConnectedToInternet)))
        let screen = screen()
        await screen.refresh()
        #expect(screen.title == "PUG")
        #expect(screen.lines.first == "ERROR")
    }

    @Test func isLoadingUntilTheAnswerComes() async throws {
        let answer = script.on(.list).hold()
        let screen = screen()

        let refreshing = Task { await screen.refresh() }
        _ = try await answer.request()
        #expect(screen.lines == ["LOADING…"])

        answer.release([pug])
        await refreshing.value
        #expect(screen.title == "PUG (1)")
    }

    @Test func isLoadingForAsLongAsNothingComes() async throws {
        script.on(.list).answer(.never)
        let screen = screen()

        let refreshing = Task { await screen.refresh() }
        _ = try await script.nextRequest()
        #expect(screen.lines == ["LOADING…"])

        refreshing.cancel()
        await refreshing.value
        #expect(screen.lines == ["LOADING…"])
    }

    @Test func showsPugsAfterAnError() async {
        script.on(.list).answer(.status(503)).answer([pug])
        let screen = screen()
        await screen.refresh()
        #expect(screen.lines.first == "ERROR")
        await screen.refresh()
        #expect(screen.title == "PUG (1)")
    }
}
