// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// Whether a ``Recorder`` sends requests or answers them from its file.
public enum RecordingMode: String, Sendable, Hashable {
    /// Answers only from the file. A request that is not in the file fails, and the error says how to record it.
    case replay

    /// Sends every request, and replaces the file.
    case record

    /// Answers from the file if possible. Sends all other requests, and adds them to the file.
    case recordMissing = "missing"

    /// The variable of the process environment that ``environment`` reads.
    public static let variable = "APICONNECTOR_RECORDING"

    /// The mode from the process environment: the value `record` or `missing` of `APICONNECTOR_RECORDING`; otherwise
    /// ``replay``.
    public static var environment: RecordingMode {
        ProcessInfo.processInfo.environment[variable].flatMap { RecordingMode(rawValue: $0) } ?? .replay
    }

    /// Throws an error for a value that is not a mode, instead of using the default.
    static func checkEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(FixtureError) {
        guard let text = environment[variable], RecordingMode(rawValue: text) == nil else { return }
        throw FixtureError("\(variable) is \(text.debugDescription); it must be replay, record or missing")
    }

    /// Advice on how to record a missing request with a recorder.
    static let advice =
        "to record it, run the test once with \(variable)=missing in its environment, or with \(variable)=record to "
        + "record everything again; if the recorder has a mode in code, use .recordMissing or .record there"

    /// Advice on how to record a missing request of a replay without a recorder.
    static let adviceWithoutRecorder =
        "to record it, which a Replay cannot do, use recording(by:) with a Recorder of this file in mode "
        + ".recordMissing, or export the file again"
}
