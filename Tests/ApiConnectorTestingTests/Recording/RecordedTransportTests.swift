// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorRecording
import ApiConnectorConformance
import ApiConnector
import ApiConnectorTesting
import Testing

/// The checks of the test doubles' list that apply to a recorded transport.
struct RecordedTransportTests {
    /// The recorder reads a request's body before the request is sent.
    private static let exclusions = [
        "sends the first chunk of a source before the source ends": "a recorded request's body is read first",
        "ends a canceled call while the body's source is idle, and releases the source":
            "the peer sees no request before its body has been read, and this case waits for one",
    ]

    @Test func checkK_aRecordedTransportPassesEveryCase() async throws {
        let folder = try TemporaryFolder()
        let target = ConformanceTarget.transport(named: "recorded") {
            ConformanceTests.transport().recording(by: try Recorder(folder.file("case.har"), mode: .record))
        }
        let exclusions = ConformanceTests.exclusions.merging(Self.exclusions) { $1 }
        let report = await target.check(excluding: exclusions, within: ConformanceTests.limit)
        print(report)
        #expect(report.isPassed, "\(report)")
    }

    /// Of the cases whose bodies are short: in a debug build a large one takes its time.
    @Test func theRecordingOfEachCaseCanBeRead() async throws {
        let folder = try TemporaryFolder()
        let recorders = Locked<[Recorder]>([])
        let target = ConformanceTarget.transport(named: "recorded") {
            let file = folder.file("case \(recorders.withLock { $0.count }).har")
            let recorder = try Recorder(file, mode: .record)
            recorders.withLock { $0.append(recorder) }
            return ConformanceTests.transport().recording(by: recorder)
        }
        let cases = ConformanceCase.all.filter { [.requests, .heads, .statuses].contains($0.topic) }
        _ = await target.check(cases, excluding: ConformanceTests.exclusions, within: ConformanceTests.limit)
        for recorder in recorders.withLock({ $0 }) { try recorder.save() }
        // A case whose requests are refused before they are sent has nothing to save.
        #expect(folder.names.count > 20)
        for name in folder.names { _ = try Recording(contentsOf: folder.file(name)) }
    }
}
