// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// The response source of a seeded program: its own script engine, which reports to the test's engine.
struct SeededResponses: GivenResponseSource {
    private let engine: ScriptEngine

    init(_ document: SeedDocument) throws(FixtureError) {
        let (link, given) = try SeedLink.connect(to: document.port, key: document.key)
        engine = ScriptEngine(document, given: given, reportingTo: link)
        link.start(for: engine)
    }

    func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        try await given(to: request).withoutExchange()
    }

    func given(to request: ApiRequest) async throws -> GivenResponse {
        try await engine.answer(to: request)
    }
}

extension SeedDocument {
    /// A script's declarations, which ``AdapterLimits/seed`` has already checked.
    init(_ engine: ScriptEngine, port: Int, key: String) {
        place = SeedPlace(engine.place)
        declarations = engine.state.withLock { $0.declarations.all }.map(Declaration.init)
        self.port = port
        self.key = key
    }
}

extension SeedDocument.Declaration {
    fileprivate init(_ declaration: Declaration) {
        matcher = declaration.matcher.form
        place = SeedPlace(declaration.place)
        steps = declaration.steps.map(SeedDocument.Step.init)
    }
}

extension SeedDocument.Step {
    fileprivate init(_ step: AnswerStep) {
        if case .response(let response) = step.answer {
            answer = .response(SeedResponse(response))
        } else {
            answer = .held
        }
        minimum = step.count.minimum
        maximum = step.count.maximum
        place = SeedPlace(step.place)
    }
}

extension ScriptEngine {
    /// The script engine of a seed.
    ///
    /// - Parameters:
    ///   - document: The seed.
    ///   - given: How often earlier launches used each step.
    ///   - reporter: The link that reports every event.
    fileprivate convenience init(_ document: SeedDocument, given: [[Int]], reportingTo reporter: SeedLink) {
        let declarations = document.declarations.enumerated().map { index, seeded in
            let counts = given.indices.contains(index) ? given[index] : []
            return Declaration(
                matcher: seeded.matcher.matcher,
                place: seeded.place.place,
                steps: seeded.steps.enumerated().map { index, step in
                    AnswerStep(step, givenCount: counts.indices.contains(index) ? counts[index] : 0)
                }
            )
        }
        self.init(at: document.place.place, declaring: declarations, reportingTo: reporter)
    }
}

extension AnswerStep {
    fileprivate init(_ step: SeedDocument.Step, givenCount: Int) {
        let place = step.place.place
        let answer: Answer =
            switch step.answer {
            case .response(let response): .response(response.response)
            case .held: .held(Hold(at: place))
            }
        let count = AnswerCount(step.minimum, step.maximum)
        self.init(answer: answer, count: count, place: place, givenCount: givenCount)
    }
}
