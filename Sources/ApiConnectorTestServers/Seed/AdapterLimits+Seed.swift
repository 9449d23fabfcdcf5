// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

extension AdapterLimits {
    /// The declarations that cannot be sent to another process.
    static let seed = AdapterLimits(
        ofMatcher: { form in
            guard form.contains({ $0.isClosure || $0.isRouteClosure }) else { return nil }
            return
                "a closure cannot be sent to another process; name the route, or match by method, path, query, header "
                + "field or body"
        },
        ofResponse: { response in
            if response.isFed {
                return
                    "a body that the test feeds stays in the test's process; hold the answer and release it whole, or "
                    + "declare the chunks and pauses"
            }
            if response.pauses.contains(where: { !($0.timeSource is SystemTimeSource) }) {
                return "its pause uses a clock of the test's process; pause on .system, or hold the answer"
            }
            for error in response.failures {
                let isKnown = error is ApiConnectorError || (error as NSError).domain == NSURLErrorDomain
                if !isKnown {
                    return
                        "an error of type \(type(of: error)) cannot be sent to another process; fail with a URLError or "
                        + "an ApiConnectorError"
                }
            }
            return nil
        },
        ofClosure: "a closure cannot be sent to another process; give the answer itself, or hold it and release it",
        ofLateness: "it was declared after the seed was made, so the program does not get it; make the seed last"
    )
}

extension TestConnectorResponse {
    fileprivate var pauses: [Pause] {
        guard case .response(_, _, .steps(let steps)) = answer else { return pause.map { [$0] } ?? [] }
        let inBody = steps.compactMap { if case .pause(let pause) = $0 { pause } else { nil } }
        return (pause.map { [$0] } ?? []) + inBody
    }
}
