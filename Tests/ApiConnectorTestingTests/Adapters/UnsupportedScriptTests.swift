// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// A declaration that an adapter cannot express is refused when the adapter is made, with its line.
@Suite(.timeLimit(.minutes(10)))
struct UnsupportedScriptTests {
    private let script = Script(for: Kiosk.self, in: KioskServer())
}

extension UnsupportedScriptTests {
    private func refusal(_ body: () throws -> some Sendable) throws -> UnsupportedScriptError {
        try #require(throws: UnsupportedScriptError.self) { _ = try body() }
    }

    @Test func aClosureOverTheRouteIsRefusedOverASocketOrASession() throws {
        let line = #line + 1
        script.on { if case .paper = $0 { true } else { false } }.answer(Paper.morning, times: .anyNumber)
        let text = """
            What is declared at \(place(line)) is refused: its closure needs the route, and a request over a \
            socket has no route; declare the route itself, or match by .method and .path.
            """
        #expect(try refusal { try ScriptServer(script) }.description == text)
        #expect(
            try refusal { try SessionBridge(script) }.description == text.replacing("a socket", with: "a URLSession")
        )
    }

    @Test func aSeedRefusesClosures() throws {
        let line = UInt(#line)
        script.on(matching: .satisfying("is short") { $0.url.path().count < 9 }).answer(.status(200), times: .anyNumber)
        script.on(matching: .not(.satisfying("is short") { _ in true })).answer(.status(200), times: .anyNumber)
        script.on { _ in true }.answer(.status(200), times: .anyNumber)
        script.on(.paper(id: 1)).answer(times: .anyNumber) { _ in .status(200) }
        let items = try refusal { try LaunchSeed(script) }.items
        #expect(items.map(\.place.line) == (1...4).map { line + $0 })
        #expect(items.last?.description.hasSuffix("give the answer itself, or hold it and release it.") == true)
    }

    @Test func aSeedRefusesObjectsOfTheTestsProcess() throws {
        struct Broken: Error {}
        let line = UInt(#line)
        script.on(.paper(id: 1)).answer(.feed(BodyFeed()), times: .anyNumber)
        script.on(.paper(id: 2)).answer(.status(200).after(.seconds(1), on: ManualClock()), times: .anyNumber)
        script.on(.paper(id: 3)).answer(.failure(Broken()), times: .anyNumber)
        script.on(.paper(id: 4)).answer(.status(200).after(.zero, on: .system), times: .anyNumber)
        script.on(.paper(id: 5)).answer(.failure(URLError(.timedOut)), times: .anyNumber)
        script.on(.paper(id: 6)).answer(.failure(ApiConnectorError(.circuitOpen, "open")), times: .anyNumber)
        let items = try refusal { try LaunchSeed(script) }.items
        #expect(items.map(\.place.line) == (1...3).map { line + $0 })
        #expect(items[2].description.contains("an error of type Broken cannot be sent"))
    }

    @Test(
        arguments: [
            .timedOut, .stalled, .deadlineExceeded, .nameNotResolved, .cannotConnect, .secureConnectionFailed,
            .circuitOpen, .other,
        ] as [ApiConnectorError.Kind]
    )
    func aServerRefusesFailuresThatAServerCannotCause(_ kind: ApiConnectorError.Kind) throws {
        let line = UInt(#line + 1)
        script.on(.paper(id: 1)).answer(.failure(ApiConnectorError(kind, "so")), times: .anyNumber)
        #expect(try refusal { try ScriptServer(script) }.items.map(\.place.line) == [line])
    }

    @Test func aServerRefusesInvalidStatuses() throws {
        script.on(.paper(id: 1)).answer(.status(100), times: .anyNumber)
        script.on(.paper(id: 2)).answer(.status(1000), times: .anyNumber)
        script.on(.paper(id: 3)).answer(.status(999), times: .anyNumber)
        #expect(try refusal { try ScriptServer(script) }.items.count == 2)
    }

    @Test func aSessionRefusesFailuresWithoutAURLError() throws {
        script.on(.paper(id: 1)).answer(.failure(ApiConnectorError(.circuitOpen, "open")), times: .anyNumber)
        script.on(.paper(id: 2)).answer(.failure(ApiConnectorError(.cannotConnect, "no")), times: .anyNumber)
        script.on(.paper(id: 3)).answer(.failure(URLError(.callIsActive)), times: .anyNumber)
        let text = try refusal { try SessionBridge(script) }.description
        #expect(text.hasSuffix("URLSession has no error for kind circuitOpen; fail with a URLError."))
    }

    @Test func aBackgroundSessionIsRefused() throws {
        #if !canImport(FoundationNetworking)
        let error = try #require(throws: ApiConnectorError.self) {
            _ = try SessionBridge(script, configuration: .background(withIdentifier: "kiosk"))
        }
        #expect(error.kind == .invalidRequest)
        #endif
    }

    #if canImport(FoundationNetworking)
    @Test func aSessionOnLinuxGetsAFedBodyOnlyThroughItsDelegate() throws {
        script.on(.paper(id: 1)).answer(.feed(BodyFeed()), times: .anyNumber)
        #expect(
            try refusal { try SessionBridge(script) }.description.contains("make the bridge with delivery: .inChunks")
        )
        _ = try SessionBridge(script, delivery: .inChunks)
    }
    #endif

    @Test func anUnsupportedLaterDeclarationIsAnIssue() async throws {
        _ = try ScriptServer(script)
        let line = UInt(#line + 1)
        script.on { _ in false }
        script.on(.paper(id: 1)).answer(.status(100), times: .anyNumber)
        script.on(.paper(id: 2)).answer(.status(200), times: .anyNumber)
        let issues = await script.end()
        #expect(issues.map(\.kind) == [.refused, .refused])
        #expect(issues.map(\.place.line) == [line, line + 1])
    }

    @Test func aDeclarationAfterTheSeedIsAnIssue() async throws {
        _ = try LaunchSeed(script)
        script.on(.paper(id: 2)).answer(.status(200), times: .anyNumber)
        let issues = await script.end()
        #expect(issues.map(\.kind) == [.refused, .refused])
        #expect(issues.first?.description.contains("make the seed last") == true)
    }

    @Test func anUnsupportedComputedAnswerIsRefusedAtItsLine() async throws {
        let line = UInt(#line + 1)
        script.on(.paper(id: 1)).answer { _ in .failure(URLError(.timedOut)) }
        let kiosk = try ScriptAdapter.server.connection(to: script)
        let error = await #expect(throws: ApiConnectorError.self) { try await kiosk.data(at: .paper(id: 1)) }
        #expect(error?.response?.status == 501)
        let issues = await script.end()
        #expect(issues.map(\.kind) == [.refused])
        #expect(issues.map(\.place.line) == [line])
        #expect(issues.first?.description.contains("the client's own timeout ends the call") == true)
    }

    @Test func anUnsupportedReleasedAnswerIsRefusedAtItsLine() async throws {
        let line = UInt(#line + 1)
        let answer = script.on(.paper(id: 1)).hold()
        let kiosk = try ScriptAdapter.seed.connection(to: script)
        let call = Task { try await kiosk.data(at: .paper(id: 1)) }
        _ = try await answer.request()
        answer.release(.feed(BodyFeed()))
        await #expect(throws: ApiConnectorError.self) { try await call.value }
        let issues = await script.end()
        #expect(issues.map(\.kind) == [.refused])
        #expect(issues.map(\.place.line) == [line])
    }
}
