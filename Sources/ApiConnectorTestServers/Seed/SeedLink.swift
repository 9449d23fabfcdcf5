// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// The program's side of the connection to its test.
///
/// It reports every event and receives released answers.
///
/// Each event is reported and acknowledged before the program acts on it. So when the program has its answer, the test
/// knows the request.
final class SeedLink: ScriptReporter {
    private struct State {
        var refusal: String?
        var isGone = false
    }

    private let socket: Socket
    private let input: Locked<LoopbackInput>
    private let reports = DispatchQueue(label: "ApiConnectorTesting.SeedLink")
    private let acknowledged = DispatchSemaphore(value: 0)
    private let state = Locked(State())

    static let goneText =
        "the test that launched the program has ended, so its script no longer answers; launch the program again"

    private init(_ socket: Socket, _ input: LoopbackInput) {
        self.socket = socket
        self.input = Locked(input)
    }

    deinit { socket.close() }

    /// Connects, and receives how often each step was already used.
    static func connect(to port: Int, key: String) throws(FixtureError) -> (SeedLink, given: [[Int]]) {
        do {
            let socket = try Socket.connect(to: port)
            try socket.send(try SeedMessage.line(SeedMessage.FromProgram.hello(key: key)))
            var input = LoopbackInput()
            while true {
                if let line = input.takeLine() {
                    guard case .given(let counts) = try SeedMessage.parse(line, as: SeedMessage.FromTest.self) else {
                        break
                    }
                    return (SeedLink(socket, input), counts)
                }
                let bytes = try socket.receive()
                if bytes.isEmpty { break }
                input.append(bytes)
            }
        } catch {
            throw FixtureError(seed: "the test cannot be reached on port \(port): \(error)")
        }
        throw FixtureError(
            seed: "the test on port \(port) does not know the seed; it belongs to another test, or its test has ended"
        )
    }

    /// Starts to listen on its own thread.
    func start(for engine: ScriptEngine) {
        let thread = Thread { [weak self, weak engine, socket] in
            while true {
                do {
                    let bytes = try socket.receive()
                    guard !bytes.isEmpty else { break }
                    guard let self, let engine else { return }
                    self.hear(bytes, engine)
                } catch LoopbackError.system(_, let code) where [EAGAIN, EWOULDBLOCK].contains(code) {
                    // No message arrived for a while.
                } catch {
                    break
                }
            }
            self?.end(engine)
        }
        thread.name = "link to the test"
        thread.start()
    }

    func report(_ event: ScriptEvent) -> String? {
        // Only one report at a time waits for its acknowledgment.
        reports.sync {
            guard !state.withLock({ $0.isGone }) else { return Self.goneText }
            do {
                try socket.send(try SeedMessage.line(SeedMessage.FromProgram.event(SeedEvent(event))))
            } catch {
                return Self.goneText
            }
            acknowledged.wait()
            return state.withLock { state in
                defer { state.refusal = nil }
                return state.isGone ? Self.goneText : state.refusal
            }
        }
    }

    private func hear(_ bytes: Data, _ engine: ScriptEngine) {
        let lines = input.withLock { input in
            input.append(bytes)
            var lines: [String] = []
            while let line = input.takeLine() { lines.append(line) }
            return lines
        }
        for line in lines {
            guard let message = try? SeedMessage.parse(line, as: SeedMessage.FromTest.self) else { continue }
            switch message {
            case .given: continue
            case .acknowledged(let refusal):
                state.withLock { $0.refusal = refusal }
                acknowledged.signal()
            case .release(let declaration, let step, let response):
                engine.state.withLock { $0.declarations.hold(declaration, step) }?.answer.set(response.response)
            case .stop(let number, let text):
                engine.stop(number, text)
            }
        }
    }

    /// Ends the link: waiting requests are stopped, and later requests fail.
    private func end(_ engine: ScriptEngine?) {
        state.withLock { $0.isGone = true }
        acknowledged.signal()
        engine?.stopAll(Self.goneText)
    }
}

extension ScriptEngine {
    fileprivate func stop(_ number: Int, _ text: String) {
        let exchange = state.withLock { $0.open[number] }
        exchange?.stopped.set(ApiConnectorError(.cancelled, text))
    }

    fileprivate func stopAll(_ text: String) {
        let exchanges = state.withLock { $0.open.inOrder }
        for exchange in exchanges { exchange.stopped.set(ApiConnectorError(.cancelled, text)) }
    }
}
