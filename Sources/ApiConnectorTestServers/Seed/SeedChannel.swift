// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// The test's side of the connections to the programs that it has launched.
///
/// It passes the programs' reports to the script's engine.
final class SeedChannel: Sendable {
    private let reference: ScriptReference
    private let key: String

    init(_ engine: ScriptEngine, key: String) {
        reference = ScriptReference(engine)
        self.key = key
    }

    /// Reads all messages of one program, on the connection's thread.
    func serve(_ connection: LoopbackConnection) throws {
        guard let first = try connection.readLine(),
            case .hello(let theirs) = try SeedMessage.parse(first, as: SeedMessage.FromProgram.self), theirs == key,
            // The engine is not kept, because a script without other references must be released even while a program
            // is connected.
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

    /// Records a program's message.
    ///
    /// It holds the script only during the call, because the script may be released as soon as the message is
    /// acknowledged.
    ///
    /// - Returns: The reason why a request is refused; an inner nil for any other event; an outer nil if the message is
    ///   not an event, or if the script was released.
    private func note(_ line: String, of program: SeededProgram) throws -> String?? {
        guard case .event(let event) = try SeedMessage.parse(line, as: SeedMessage.FromProgram.self),
            let engine = reference.engine
        else { return nil }
        return .some(program.note(event, in: engine))
    }
}

/// The test's view of one launched program.
private final class SeededProgram: Sendable {
    private struct Underway {
        let exchange: OpenExchange
        let sent: RecordedRequest
        var hold: Hold?
    }

    private let connection: LoopbackConnection
    private let output = DispatchQueue(label: "ApiConnectorTesting.SeededProgram")
    /// The program's running requests, by the program's own request numbers.
    private let underway = Locked<[Int: Underway]>([:])

    init(_ connection: LoopbackConnection) {
        self.connection = connection
    }

    /// Sends a message; does nothing if the program has ended.
    func say(_ message: SeedMessage.FromTest) {
        output.sync {
            guard let line = try? SeedMessage.line(message) else { return }
            try? connection.send(line)
        }
    }

    /// Records an event of the program.
    ///
    /// - Returns: Why a request must not be answered; nil if it may.
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

    /// Records that the program has ended, and with it all of its running requests.
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
        // These references are weak, because an answer that is never given must not keep its waiters alive.
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

    /// The script's own place that equals a place from a program; the program's place if the script has none.
    ///
    /// Only the script's own place has the file's path.
    fileprivate func place(like other: CodeLocation) -> CodeLocation {
        let known = state.withLock { state in
            state.declarations.all.flatMap { [$0.place] + $0.steps.map(\.place) }
        }
        return ([place] + known).first { $0 == other } ?? other
    }
}
