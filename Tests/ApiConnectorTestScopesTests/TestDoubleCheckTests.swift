// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import TestSupport
import Testing

@testable import ApiConnectorTestScopes

/// The checks that a test double must pass, by the letters of its list.
@Suite(.timeLimit(.minutes(10)))
struct TestDoubleCheckTests {
    #if os(Linux)
    /// Runs tests of this program in a child process that is allowed to fail.
    ///
    /// - Parameters:
    ///   - arguments: Which tests, and how.
    ///   - adapter: The adapter that sends their requests to their scripts; in process by default.
    ///   - isOnlyErrors: Whether to give what it writes to standard error, and nothing else; false by default.
    private func child(
        _ arguments: String,
        over adapter: ScriptAdapter = .inProcess,
        onlyErrors isOnlyErrors: Bool = false
    ) throws -> (lines: [String], status: Int32) {
        let program = try #require(CommandLine.arguments.first)
        let variables = "APICONNECTOR_CORRUPTED_TESTS=1 \(ScriptAdapter.variable)=\(adapter.rawValue)"
        let shell = try Shell("\(variables) '\(program)' \(arguments) 2>&1 \(isOnlyErrors ? ">/dev/null" : "")")
        var lines: [String] = []
        while let line = shell.line() { lines.append(line) }
        return (lines, shell.end())
    }

    /// The lines that are marked by a comment at their end, by its words.
    private func marks(in file: String = "CorruptedTests.swift") throws -> [String: Int] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: file)
        let lines = try String(contentsOf: file, encoding: .utf8).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        var marks: [String: Int] = [:]
        for (index, line) in lines.enumerated() {
            guard let mark = line.firstMatch(of: #/\S  \/\/ (\w+)$/#) else { continue }
            marks[String(mark.1)] = index + 1
        }
        return marks
    }

    @Test(arguments: ScriptAdapter.allCases)
    func checkA_aCorruptedExpectationFailsTheTestAtItsLine(_ adapter: ScriptAdapter) throws {
        let (lines, status) = try child("--testing-library swift-testing --filter '\\.CorruptedTests/'", over: adapter)
        #expect(status == 1)
        var places: [String: [Int]] = [:]
        var refused: [String: Int] = [:]
        for line in lines {
            let issue = line.firstMatch(of: #/Test (\w+)\(\) recorded an issue at CorruptedTests.swift:(\d+):/#)
            guard let issue else { continue }
            places[String(issue.1), default: []].append(Int(issue.2) ?? 0)
            let thrown = line.firstMatch(
                of: #/Caught error: What is declared at CorruptedTests.swift:(\d+) is refused/#
            )
            if let thrown { refused[String(issue.1)] = Int(thrown.1) }
        }
        let marks = try marks().filter { !$0.key.hasPrefix("test") && !adapter.lacks.contains($0.key) }
        #expect(marks.count == 30 - adapter.lacks.count)
        for (name, line) in marks {
            if let offset = adapter.refuses[name] {
                #expect(refused[name] == line + offset, "\(name)")
            } else {
                #expect(Set(places[name] ?? []) == [line], "\(name)")
                if adapter == .inProcess { #expect(places[name]?.count == 1, "\(name)") }
            }
        }
        #expect(Set(refused.keys) == Set(adapter.refuses.keys))
        // Its own error, and nothing else.
        #expect(places["throwsItself"]?.count == 1)
        #expect(Set(places.keys) == Set(marks.keys).union(["throwsItself"]))
        #expect(lines.contains { $0.contains("nothingIsWrong() passed") })
    }

    @Test func checkA_holdsForXCTestToo() throws {
        let (lines, status) = try child("ApiConnectorTestScopesTests.CorruptedXCTests")
        #expect(status == 1)
        var places: [String: Int] = [:]
        for line in lines {
            let failure = line.firstMatch(of: #/CorruptedTests.swift:(\d+): error: CorruptedXCTests.(\w+) /#)
            if let failure { places[String(failure.2)] = Int(failure.1) }
        }
        let expected = try marks().filter { $0.key.hasPrefix("test") }
        #expect(expected.count == 4)
        #expect(places == expected)
        #expect(lines.contains { $0.contains("testThrowsItself") && $0.contains("threw error") })
    }

    @Test func checkD_aRequestAfterItsTestIsPrintedToStandardErrorAndReachesNoOtherTest() throws {
        let (lines, status) = try child(
            "--testing-library swift-testing --filter '\\.LeakingTests/'",
            onlyErrors: true
        )
        #expect(status == 0, "\(lines)")
        #expect(late(in: lines) == [lateText(of: "teas/41", after: "leaks()")])
    }

    @Test func checkD_holdsForXCTestToo() throws {
        let (lines, status) = try child("ApiConnectorTestScopesTests.LeakingXCTests", onlyErrors: true)
        #expect(status == 0, "\(lines)")
        #expect(late(in: lines) == [lateText(of: "teas/42", after: "LeakingXCTests.testLeaks")])
    }

    private func late(in lines: [String]) -> [String] {
        lines.filter { $0.hasPrefix("ApiConnectorTesting: ") }
    }

    private func lateText(of path: String, after test: String) -> String {
        "ApiConnectorTesting: GET https://shop.example.com/\(path): the test \(test) has "
            + "ended, so its script no longer "
            + "answers; code that the test started is still running: await or cancel it before the test ends."
    }

    @Test func checkB_unreadIssuesArePrintedToStandardError() throws {
        let (lines, status) = try child(
            "--testing-library swift-testing --filter '\\.UnaskedTests/'",
            onlyErrors: true
        )
        #expect(status == 0, "\(lines)")
        let marks = try marks(in: "LeakingTests.swift")
        let (first, answer) = (try #require(marks["nobodyAsks"]), try #require(marks["itsAnswer"]))
        let second = try #require(marks["nobodyAsksAgain"])
        let text = lines.joined(separator: "\n")
        #expect(
            text.contains(
                """
                ApiConnectorTesting: The test did not read the issues of the script made at LeakingTests.swift:\(first):
                GET https://shop.example.com/teas/1: the script made at LeakingTests.swift:\(first) has no answer to \
                this request; to add one, write
                  script.on(matching: .method(.get), .path("/teas/1")).answer(.status(200))
                The script's only answer is for
                  1. GET https://shop.example.com/teas/2, at LeakingTests.swift:\(answer)
                     path: "/teas/2" was expected, but "/teas/1" was sent.
                The answer 200 OK to GET https://shop.example.com/teas/2 was never given.

                """
            ),
            "\(text)"
        )
        #expect(
            text.contains(
                """
                ApiConnectorTesting: The test did not read these issues of the script made at \
                LeakingTests.swift:\(second):
                GET https://shop.example.com/teas?page=2: the script made at LeakingTests.swift:\(second) has no answer \
                to this request; to add one, write
                  script.on(matching: .method(.get), .path("/teas"), .query("page", "2")).answer(.status(200))
                The script has no answers.

                """
            ),
            "\(text)"
        )
        #expect(lines.count { $0.hasPrefix("ApiConnectorTesting: ") } == 2)
    }

    @Test func checkC_aThousandTestsGetTheirOwnAnswers() throws {
        let (lines, status) = try child("--testing-library swift-testing --filter '\\.ThousandTests/'")
        #expect(status == 0)
        #expect(lines.contains { $0.contains("with 1000 test cases passed") }, "\(lines.suffix(5))")
    }
    #endif

    @Test func checkB_anUnmatchedRequestIsAnIssueEvenIfItsErrorIsIgnored() async {
        let script = Script(for: Shop.self, in: .test)
        _ = try? await script.connection().value(Tea.self, at: .tea(id: 1))
        #expect(await script.end().map(\.kind) == [.unmatched])
    }

    @Test func checkC_aThousandConcurrentCallsGetTheirOwnAnswers() async throws {
        let scripts = (0..<1000).map { _ in Script(for: Shop.self, in: .test) }
        let answers = scripts.map { $0.on(.tea(id: 1)).hold() }
        let calls = scripts.map { script in
            let shop = script.connection(ConnectionConfiguration(timeouts: .unlimited))
            return Task { try await shop.value(Tea.self, at: .tea(id: 1)) }
        }
        for answer in answers { _ = try await answer.request() }
        // All are running; the last is answered first.
        for (id, answer) in answers.enumerated().reversed() { answer.release(Tea(id: id, name: "tea")) }
        var ids: [Int] = []
        for call in calls { ids.append(try await call.value.id) }
        #expect(ids == Array(0..<1000))
        var issues: [TestIssue] = []
        for script in scripts { issues += await script.end() }
        #expect(issues.isEmpty)
    }

    @Test func checkD_aLeakedRequestNeverGetsTheNextTestsAnswer() async throws {
        let early = ScriptScope(named: "the test early()", onLateRequest: LateRequests.note)
        let late = ScriptScope(named: "the test late()", onLateRequest: LateRequests.note)
        let leaked = ScriptScope.$current.withValue(early) { Script(for: Shop.self, in: .test).connection() }
        #expect(await early.end(waitingUpTo: .seconds(1), hasFailed: false).isEmpty)

        let script = ScriptScope.$current.withValue(late) { Script(for: Shop.self, in: .test) }
        script.on(.tea(id: 31)).answer(Tea.green)
        let error = await #expect(throws: ApiConnectorError.self) { try await leaked.value(Tea.self, at: .tea(id: 31)) }
        let text = """
            the test early() has ended, so its script no longer answers; code that the test started is \
            still running: await or cancel it before the test ends
            """
        #expect(error?.kind == .unmatched)
        #expect(error?.detail == text)
        #expect(LateRequests.all.contains("GET https://shop.example.com/teas/31: \(text)."))
        #expect(script.requests.isEmpty)
        #expect(try await script.connection().value(Tea.self, at: .tea(id: 31)) == .green)
        #expect(await late.end(waitingUpTo: .seconds(1), hasFailed: false).isEmpty)
    }

    @Test func checkD_aScriptMadeByALeakedTaskAnswersNoRequest() async throws {
        let over = ScriptScope(named: "the test over()", onLateRequest: LateRequests.note)
        #expect(await over.end(waitingUpTo: .seconds(1), hasFailed: false).isEmpty)
        let script = ScriptScope.$current.withValue(over) { Script(for: Shop.self, in: .test) }
        script.on(.tea(id: 32)).answer(Tea.green)
        let error = await #expect(throws: ApiConnectorError.self) {
            try await script.connection().data(at: .tea(id: 32))
        }
        #expect(error?.kind == .unmatched)
        #expect(LateRequests.all.contains { $0.hasPrefix("GET https://shop.example.com/teas/32: the test over()") })
    }

    @Test func checkF_answersAreGivenInOrderAndListedWhenTheyAreUsedUp() async throws {
        let script = Script(for: Shop.self, in: .test)
        let line = #line + 1
        script.on(.tea(id: 1)).answer(.status(500), times: 2).answer(Tea.green)
        let shop = script.connection()
        var seen: [HTTPStatus?] = []
        for _ in 1...3 {
            do {
                seen.append(try await shop.response(of: Tea.self, at: .tea(id: 1)).status)
            } catch {
                seen.append(error.response?.status)
            }
        }
        #expect(seen == [500, 500, 200])
        let error = await #expect(throws: ApiConnectorError.self) { try await shop.data(at: .tea(id: 1)) }
        #expect(
            error?.detail == "the answers to this request are used up: 500 Internal Server Error 2 times "
                + "(\(place(line))), 200 OK (\(place(line))); add one with .answer(…), or repeat the last one with times: .atLeastOnce"
        )
        #expect(await script.end().map(\.kind) == [.exhausted])
    }

    @Test func checkG_anUnmatchedRequestIsExplainedByItsNearestMatcher() async throws {
        let script = Script(for: Shop.self, in: .test)
        let matcher = RequestMatcher.method(.put).and(.path("/tea")).and(.header("X-Shop", "no")).and(.json(["id": 9]))
        let farther = RequestMatcher.method(.delete).and(.path("/coffee/beans/of/last/year")).and(
            .header("X-Shop", "x")
        )
        .and(.json(["id": 9, "name": "none", "leaves": 7]))
        script.on(matching: farther).answer(.status(200), times: .anyNumber)
        script.on(matching: matcher).answer(.status(200), times: .anyNumber)
        let error = await #expect(throws: ApiConnectorError.self) {
            try await script.connection().send(at: .add(.green))
        }
        let sent = try #require(script.requests.first)
        #expect(!matcher.matches(sent))
        let explained = matcher.explain(sent)
        #expect(explained.map { $0.prefix { $0 != ":" } } == ["method", "path", "header field X-Shop", "body at id"])
        for line in explained { #expect(error?.detail.contains(line) == true) }
        #expect(error?.detail.contains("\n  1. \(matcher), at ") == true)
        #expect(error?.detail.contains("\n  2. \(farther), at ") == true)
        #expect(await script.end().map(\.kind) == [.unmatched])
    }

    @Test func checkM_theStaticFormOf2016IsAnAdapterOfOneLine() async throws {
        enum TeaResponses: StaticResponses {
            static func response(for request: ApiRequest) -> TestConnectorResponse { .json(Tea.green) }
        }
        typealias TestConnection = NetworkConnector<TestConnector<Static<TeaResponses>>, Shop>
        #expect(try await TestConnection(environment: .test).value(Tea.self, at: .tea(id: 1)) == .green)
    }
}

extension ScriptAdapter {
    /// The tests of ``CorruptedTests`` that it cannot have: each needs what it does not do by its nature.
    fileprivate var lacks: Set<String> {
        switch self {
        // It can express everything.
        case .inProcess: ["notExpressible", "notExpressibleLate"]
        case .session: []
        // All requests to this port are meant for the server that it replaces.
        case .server: ["anotherOrigin"]
        // A route that is declared after the launch is refused, as another test shows.
        case .seed: ["usedUpBesideTwo"]
        }
    }

    /// The tests whose scripts it refuses, and the distance from the mark to the line that the issue names.
    fileprivate var refuses: [String: Int] {
        switch self {
        case .inProcess: [:]
        case .session, .server: ["anotherCase": 1]
        case .seed: ["anotherCase": 1, "predicate": 1, "anotherTypeComputed": 0, "notAwaited": 1]
        }
    }
}

/// How the library of 2016 had it.
private protocol StaticResponses: Sendable {
    static func response(for request: ApiRequest) -> TestConnectorResponse
}

private struct Static<Responses: StaticResponses>: ResponseProvider {
    func response(for request: ApiRequest) async throws -> TestConnectorResponse { Responses.response(for: request) }
}
