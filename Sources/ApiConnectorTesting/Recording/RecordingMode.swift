// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Whether a ``Recorder`` sends requests or answers them from its file.
public enum RecordingMode: String, Sendable, Hashable {
    /// Answers from the file alone; a request that it does not have fails, and says how to record it.
    case replay

    /// Sends everything, and replaces the file.
    case record

    /// Answers what the file has, sends the rest, and adds it to the file.
    case recordMissing = "missing"

    /// The variable of the process environment that ``environment`` reads.
    public static let variable = "APICONNECTOR_RECORDING"

    /// What the process environment asks for: `APICONNECTOR_RECORDING` as `record` or `missing`; else ``replay``.
    public static var environment: RecordingMode {
        ProcessInfo.processInfo.environment[variable].flatMap { RecordingMode(rawValue: $0) } ?? .replay
    }

    /// Makes sure that a word which is no mode is not taken for the default.
    static func checkEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(RecordingError) {
        guard let text = environment[variable], RecordingMode(rawValue: text) == nil else { return }
        throw RecordingError("\(variable) is \(text.debugDescription); it must be replay, record or missing")
    }

    /// How to have a request recorded that is missing.
    static let advice =
        "to record it, run the test once with \(variable)=missing in its environment, or with \(variable)=record to "
        + "record everything again"
}
