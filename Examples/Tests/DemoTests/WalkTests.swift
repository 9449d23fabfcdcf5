// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Backends
import Testing
import Walkthrough

struct WalkTests {
    @Test func aBackendThatAnswersOtherwiseIsNotAsExpected() async {
        let lines = Lines()
        let walk = Walk(write: lines.append)

        await walk.blog(
            .test,
            over: TestConnector { request in
                guard case .posts? = request.route as? BlogRouter else { return .status(404) }
                return .json([Post.sample], encoder: .blog)
            }
        )

        #expect(!walk.isAsExpected)
        #expect(walk.surpriseCount == 5)
        #expect(lines.text.contains("  ✗ GET  /posts?date=2016-11-21                     200  not as expected\n"))
        #expect(lines.text.contains("the day's titles should be [\"Hello\", \"Tea / Café\"], but is [\"Hello\"]"))
    }

    @Test func aWalkWithoutStepsIsNotAsExpected() {
        #expect(!Walk(write: { _ in }).isAsExpected)
    }

    @Test func endsWithTheCountAndTheTime() {
        let lines = Lines()
        Walk(write: lines.append).end(after: .milliseconds(1234))
        #expect(lines.text == "\n0 of 0 steps not as expected, in 1.23 s\n")
    }

    @Test(
        arguments: [
            (true, [:], true),
            (false, [:], false),
            (true, ["NO_COLOR": "1"], false),
            (true, ["NO_COLOR": ""], true),
            (true, ["TERM": "dumb"], false),
        ] as [(Bool, [String: String], Bool)]
    )
    func colorsOnlyATerminalThatWantsThem(isTerminal: Bool, environment: [String: String], isColored: Bool) {
        let lines = Lines()
        let style = TextStyle(isTerminal: isTerminal, environment: environment)
        Walk(style: style, write: lines.append).end(after: .zero)
        #expect(lines.text.contains("\u{1B}") == isColored)
    }
}

/// Collects the output of a walk.
final class Lines {
    private(set) var text = ""

    func append(_ line: String) {
        text += line + "\n"
    }
}
