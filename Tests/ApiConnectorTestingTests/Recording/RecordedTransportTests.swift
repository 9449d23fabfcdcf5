// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnector
import ApiConnectorTesting
import Testing

/// What the list that a test double is held to asks of a recorded transport.
@Suite(.timeLimit(.minutes(5)))
struct RecordedTransportTests {
    @Test(arguments: TransportCase.all)
    func checkK_aTransportThatIsRecordedBehavesAsOne(_ transportCase: TransportCase) async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("case.har")
        let recorder = try Recorder(file, mode: .record)
        try await transportCase.run(over: CurlProvider(configuration: CurlConfiguration()).recorded(by: recorder))
        try recorder.save()
        // A case whose requests are refused before they are sent has nothing to save.
        if folder.names.isEmpty { return }
        _ = try Recording(contentsOf: file)
    }
}
#endif
