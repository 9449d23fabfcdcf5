// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The test's end of the connections to the programs that it has launched: what they tell goes into the script's
/// engine.
final class SeedChannel: Sendable {
    private let reference: ScriptReference
    private let key: String

    init(_ engine: ScriptEngine, key: String) {
        reference = ScriptReference(engine)
        self.key = key
    }

    /// Hears one program out, on the connection's thread.
    func serve(_ connection: LoopbackConnection) throws {
        guard let first = try connection.readLine(),
            case .hello(let theirs) = try SeedMessage.parse(first, as: SeedMessage.FromProgram.self), theirs == key,
            // Not kept: a script that nobody holds is to go away while a program is connected.
            let given = reference.engine?.givenCounts
        else { return }
        let program = SeededProgram(connection)
        program.say(.given(given))
        defer { program.end() }
        while let line = try connection.readLine() {
            guard let refusal = try note(line, of: program) else { return }
            program.say(.acknowledged(refusal: refusal))
        }
    }

    /// Notes what a program tells, and keeps the script no longer than that: the receiver of the acknowledgment may
    /// release it.
    ///
    /// - Returns: The refusal of a request, nil in it for all else; nil where nobody has the script any more.
    private func note(_ line: String, of program: SeededProgram) throws -> String?? {
        guard case .event(let event) = try SeedMessage.parse(line, as: SeedMessage.FromProgram.self),
            let engine = reference.engine
        else { return nil }
        return .some(program.note(event, in: engine))
    }
}

/// One program that was launched, as its test sees it.
private final class SeededProgram: Sendable {
    private struct Underway {
        let exchange: Exchange
        let sent: RecordedRequest
        var hold: Hold?
    }

    private let connection: LoopbackConnection
    private let output = DispatchQueue(label: "ApiConnectorTesting.SeededProgram")
    /// By the numbers that the program gives them.
    private let underway = Locked<[Int: Underway]>([:])

    init(_ connection: LoopbackConnection) {
        self.connection = connection
    }

    /// Says something; a program that has ended hears nothing.
    func say(_ message: SeedMessage.FromTest) {
        output.sync {
            guard let line = try? SeedMessage.line(message) else { return }
            try? connection.send(line)
        }
    }

    /// Notes what the program tells.
    ///
    /// - Returns: Why a request that has come is not to be answered.
    func note(_ event: SeedEvent, in engine: ScriptEngine) -> String? {
        switch event {
        case .entered(let number, let request):
            return enter(number, request, engine)
        case .took(let declaration, let step):
            engine.state.withLock { $0.declarations.countStep(step, of: declaration) }
        case .waits(let number):
            underway.withLock { $0[number]?.exchange }?.wait()
        case .held(let number, let declaration, let step):
            hold(number, declaration, step, engine)
        case .ended(let number, let outcome):
            end(underway.withLock { $0.removeValue(forKey: number) }, outcome.outcome)
        case .issue(let kind, let text, let place):
            engine.add(kind, text, at: engine.place(like: place.place))
        }
        return nil
    }

    /// Notes that the program has ended, and with it what it was waiting for.
    func end() {
        let left = underway.withLock { underway in
            defer { underway = [:] }
            return underway.sorted { $0.key < $1.key }.map(\.value)
        }
        for underway in left { end(underway, .cancelled) }
    }

    private func enter(_ number: Int, _ request: SeedRequest, _ engine: ScriptEngine) -> String? {
        do {
            let (sent, exchange) = try engine.enter(request.request, request.body)
            underway.withLock { $0[number] = Underway(exchange: exchange, sent: sent) }
            exchange.stopped.whenSet { [weak self] error in self?.say(.stop(number, error.detail)) }
            return nil
        } catch {
            return (error as? ApiConnectorError)?.detail ?? "\(error)"
        }
    }

    private func hold(_ number: Int, _ declaration: Int, _ step: Int, _ engine: ScriptEngine) {
        guard let hold = engine.state.withLock({ $0.declarations.hold(declaration, step) }),
            let request = underway.withLock({ $0[number] })
        else { return }
        underway.withLock { $0[number]?.hold = hold }
        hold.isAwaited = true
        request.exchange.wait()
        hold.arrival.set(request.sent)
        // An answer that is never given must not keep what would wait for it.
        hold.answer.whenSet { [weak self, weak engine, weak hold] response in
            guard let hold else { return }
            hold.isAwaited = false
            request.exchange.resume()
            var response = response
            if let refusal = AdapterLimits.seed.refusal(of: response) {
                engine?.add(.refused(at: hold.place, refusal))
                response = .failure(ApiConnectorError(.unmatched, refusal))
            }
            self?.say(.release(declaration: declaration, step: step, SeedResponse(response)))
        }
    }

    private func end(_ underway: Underway?, _ outcome: RecordedRequest.Outcome) {
        underway?.hold?.isAwaited = false
        underway?.exchange.end(outcome)
    }
}

extension ScriptEngine {
    /// How often each step of each declaration was given.
    fileprivate var givenCounts: [[Int]] { state.withLock { $0.declarations.all.map { $0.steps.map(\.givenCount) } } }

    /// The place that a program knows without the path to its file.
    fileprivate func place(like other: CodeLocation) -> CodeLocation {
        let known = state.withLock { state in
            state.declarations.all.flatMap { [$0.place] + $0.steps.map(\.place) }
        }
        return ([place] + known).first { $0 == other } ?? other
    }
}
