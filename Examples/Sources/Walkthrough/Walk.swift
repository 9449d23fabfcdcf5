// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A walk through a backend: sends one request per step, checks the response, and writes one line about it.
package final class Walk {
    package private(set) var stepCount = 0
    package private(set) var surpriseCount = 0

    /// Records every call of the walk.
    package let journal = Journal()

    private let style: TextStyle
    private let write: (String) -> Void
    private var basePath = ""

    /// Makes a walk that passes each finished line to a closure, which prints the line by default.
    package init(style: TextStyle = .plain, write: @escaping (String) -> Void = { print($0) }) {
        self.style = style
        self.write = write
    }

    package var isAsExpected: Bool { surpriseCount == 0 && stepCount > 0 }

    /// Prints the backend's name; later lines omit its base path.
    func begin(_ title: String, at environment: some ApiEnvironment) {
        basePath = environment.basePath
        if stepCount > 0 { write("") }
        let host = environment.host.contains(":") ? "[\(environment.host)]" : environment.host
        let port = environment.port.map { ":\($0)" } ?? ""
        write(style.strong("\(title), at \(environment.scheme.rawValue)://\(host)\(port)\(basePath)"))
        write("")
    }

    /// One step with a call that should succeed.
    ///
    /// Returns the value, or nil if it is not as expected.
    ///
    /// The check throws if the value is not as expected. Otherwise it returns a short description. A note is shown
    /// below the description.
    @discardableResult
    func step<Value>(
        _ call: () async throws -> Value,
        check: (Value) throws -> String,
        note: (Value) -> String? = { _ in nil }
    ) async -> Value? {
        do {
            let value = try await call()
            passed(try check(value), note: note(value))
            return value
        } catch {
            failed(String(describing: error))
            return nil
        }
    }

    /// One step with a call that should fail.
    ///
    /// Shows the error's text.
    ///
    /// The check throws if the error is not as expected.
    func failingStep<Value>(_ call: () async throws -> Value, check: (ApiConnectorError) throws -> String) async {
        do {
            let value = try await call()
            failed("expected an error, but the call returned \(value)")
        } catch let error as ApiConnectorError {
            do {
                passed(try check(error), note: error.description)
            } catch {
                failed(String(describing: error))
            }
        } catch {
            failed(String(describing: error))
        }
    }

    /// Reports a step that is skipped because an earlier step failed.
    func skip(_ what: String) {
        stepCount += 1
        surpriseCount += 1
        write("  \(style.bad("✗")) \(what) was skipped: an earlier step failed")
    }

    /// Ends the walk with a one-line summary.
    package func end(after elapsed: Duration) {
        let time = String(format: "%.2f s", elapsed / .seconds(1))
        write("")
        write(
            isAsExpected
                ? style.good("\(stepCount) steps, all as expected, in \(time)")
                : style.bad("\(surpriseCount) of \(stepCount) steps not as expected, in \(time)")
        )
    }

    private func passed(_ summary: String, note: String? = nil) {
        stepCount += 1
        write("  \(style.good("✓")) \(asked())\(summary)")
        if let note { writeNote(note, style.faint) }
    }

    private func failed(_ reason: String) {
        stepCount += 1
        surpriseCount += 1
        write("  \(style.bad("✗")) \(asked())\(style.bad("not as expected"))")
        writeNote(reason, style.plainly)
    }

    private func asked() -> String {
        guard let entry = journal.takeLast() else { return "" }
        let status = entry.status.map { String($0.rawValue) } ?? "---"
        let target = entry.target.hasPrefix(basePath) ? String(entry.target.dropFirst(basePath.count)) : entry.target
        return entry.method.rawValue.padded(to: 5) + target.padded(to: 43) + status.padded(to: 5)
    }

    private func writeNote(_ note: String, _ styled: (String) -> String) {
        for line in note.wrapped(at: 84) { write("         \(styled(line))") }
    }
}
