// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The texts of issues and their errors.
///
/// A text has no final period if the error's text adds one.
enum IssueText {
    static func unmatched(
        _ sent: RecordedRequest,
        _ declared: [(Declaration, [Difference])],
        scriptAt place: CodeLocation
    ) -> String {
        var text = "the script made at \(place) has no answer to this request; to add one, write\n"
        text += "  \(PastedLine(answering: sent))\n"
        guard !declared.isEmpty else { return text + "The script has no answers" }
        let nearest = declared.enumerated().sorted { left, right in
            (left.element.1.distance, left.offset) < (right.element.1.distance, right.offset)
        }
        text += declared.count == 1 ? "The script's only answer is for" : "The script's nearest answers are for"
        for (number, (_, (declaration, differences))) in nearest.prefix(3).enumerated() {
            text += "\n  \(number + 1). \(declaration.matcher), at \(declaration.place)"
            for difference in differences { text += "\n     \(difference)" }
        }
        return text
    }

    static func exhausted(_ declared: [Declaration]) -> String {
        let steps = declared.flatMap(\.steps)
        guard !steps.isEmpty else {
            return "the request matches \(places(declared)), which has no answer; add .answer(…)"
        }
        let list = steps.map { step in
            let times = step.count.maximum == 1 ? "" : " \(step.count.maximum) times"
            return "\(step.summary)\(times) (\(step.place))"
        }
        return "the answers to this request are used up: \(list.joined(separator: ", ")); "
            + "add one with .answer(…), or repeat the last one with times: .atLeastOnce"
    }

    static func ambiguous(_ declared: [Declaration]) -> String {
        "several declarations match this request: \(places(declared)); "
            + "declare the answers in a row, or make one matcher narrower"
    }

    static func unfit(_ request: some CustomStringConvertible, at place: CodeLocation, _ reason: String) -> String {
        "the answer declared at \(place) does not fit \(request): \(reason)"
    }

    /// A text as a sentence.
    static func sentence(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() + "." }

    static func unused(_ declaration: Declaration) -> [TestIssue] {
        declaration.steps.compactMap { step in
            guard step.givenCount < step.count.minimum else { return nil }
            let minimum = step.count.minimum
            let expected = minimum == 1 ? "" : "expected \(times(minimum)) and "
            let given = step.givenCount == 0 ? "never given" : "given \(times(step.givenCount))"
            let text = "The answer \(step.summary) to \(declaration.matcher) was \(expected)\(given)."
            return TestIssue(kind: .unused, description: text, place: step.place)
        }
    }

    static func unreleased(_ sent: RecordedRequest?) -> String {
        "\(sent.map { "\($0.request)" } ?? "A request"): the held answer was requested but not released; "
            + "call release(_:), or cancel the call before the test ends."
    }

    static func unfinished(_ sent: RecordedRequest, _ limit: Duration) -> String {
        "\(sent.request): it was still running when the test ended, and did not end within \(limit); "
            + "await or cancel it before the test ends."
    }

    static func unsent(_ request: ApiRequest, _ limit: Duration) -> String {
        "\(request): the client was still sending the body when the test ended, and did not finish within \(limit); "
            + "await or cancel it before the test ends."
    }

    static func stopped(_ scope: String) -> String {
        "\(scope) ended while the request was running"
    }

    static func late(_ scope: String) -> String {
        "\(scope) has ended, so its script no longer answers; "
            + "code that the test started is still running: await or cancel it before the test ends"
    }

    private static func times(_ count: Int) -> String {
        switch count {
        case 1: "once"
        case 2: "twice"
        default: "\(count) times"
        }
    }

    private static func places(_ declared: [Declaration]) -> String {
        declared.map { "\($0.matcher) (\($0.place))" }.joined(separator: ", ")
    }
}
