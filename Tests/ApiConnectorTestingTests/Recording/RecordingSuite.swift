// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorRecording
import ApiConnector
import ApiConnectorTesting
import Testing

/// A suite whose tests record into their own folder.
protocol RecordingSuite {
    var folder: TemporaryFolder { get }
}

extension RecordingSuite {
    var file: URL { folder.file("shop.har") }

    /// A connection through a recorder to what a closure answers.
    func connection(
        _ recorder: Recorder,
        _ configuration: ConnectionConfiguration = ConnectionConfiguration(),
        _ answer: @escaping @Sendable (ApiRequest) async throws -> TestConnectorResponse = { _ in .status(599) }
    ) -> NetworkConnector<some DataRequestType, Shop> {
        NetworkConnector(
            environment: .test,
            provider: TestConnector(answer).recording(by: recorder),
            configuration: configuration
        )
    }

    /// Records one exchange, and gives the file's text.
    func recorded(
        _ request: ApiRequest,
        _ answer: TestConnectorResponse,
        _ secrets: RecordingSecrets = [:]
    ) async throws -> String {
        let recorder = try Recorder(file, mode: .record, secrets: secrets)
        let provider = TestConnector { _ in answer }.recording(by: recorder)
        _ = try await provider.response(for: request)
        try recorder.save()
        return try String(contentsOf: file, encoding: .utf8)
    }

    func request(_ url: String, _ headers: HTTPHeaders = [:], _ body: RequestBody = .empty) throws -> ApiRequest {
        ApiRequest(url: try #require(URL(string: url)), method: .post, headers: headers, body: body)
    }
}
