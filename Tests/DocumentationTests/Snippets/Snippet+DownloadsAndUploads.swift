// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorRecording
import ApiConnector
import ApiConnectorTesting
import Testing

enum DownloadsAndUploads {
    enum Media: ApiRouter {
        typealias EnvironmentType = Server
        case export(year: Int)
        case avatar(file: URL)
        case report(title: String, photo: URL)

        var path: ApiPath {
            switch self {
            case .export(let year): "/exports/\(year)"
            case .avatar: "/me/avatar"
            case .report: "/reports"
            }
        }

        var method: HTTPMethod {
            switch self {
            case .export: .get
            case .avatar: .put
            case .report: .post
            }
        }

        var body: RequestBody {
            switch self {
            case .export:
                .empty
            case .avatar(let file):
                .file(file, mediaType: MediaType("image", "png"))
            case .report(let title, let photo):
                .multipart([
                    .text(title, name: "title"),
                    .json(["draft": true], name: "options"),
                    .file(photo, name: "photo", mediaType: MediaType("image", "jpeg")),
                ])
            }
        }
    }

    struct Report: ApiModel {
        let id: Int
    }

    static func downloads(_ api: NetworkConnector<SystemProvider, Media>, to file: URL) async throws {
        let done = try await api.download(at: .export(year: 2026), to: file).file()
        show(done.byteCount)

        for try await event in api.download(at: .export(year: 2026), to: file) {
            switch event {
            case .progress(let progress):
                draw(progress.fractionCompleted, progress.bytesPerSecond, progress.remainingTime)
            case .finished(let done): show(done.file)
            }
        }

        let patient = RetryPolicy(maximumAttemptCount: 20, maximumDuration: .seconds(3600))
        _ = try await api.download(at: .export(year: 2026), to: file, resuming: patient).file()

        do throws(ApiConnectorError) {
            _ = try await api.download(at: .export(year: 2026), to: file).file()
        } catch {
            if (error.underlying as? POSIXError)?.code == .ENOSPC { show("Make room, and try again.") }
        }
    }

    static func uploads(
        _ api: NetworkConnector<SystemProvider, Media>,
        photo: URL,
        recorder: Recorder
    ) async throws {
        let progress = UploadProgress()
        async let report = api.value(
            Report.self,
            at: .report(title: "Rain", photo: photo),
            options: CallOptions(uploadProgress: progress)
        )
        for await step in progress { draw(step.fractionCompleted, step.bytesPerSecond, step.remainingTime) }
        show(try await report.id)

        let live = RequestBody.stream(mediaType: MediaType("audio", "wav"), isReplayable: false) { recorder.chunks() }
        _ = live
    }

    struct Recorder: Sendable {
        func chunks() -> AsyncStream<Data> { AsyncStream { $0.finish() } }
    }

    @Test static func endsInTheFile() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "export.csv")
        let api = NetworkConnector(
            environment: .localhost,
            provider: TestConnector { _ in .chunks([Data("one ".utf8), Data("two".utf8)]) },
            router: Media.self
        )
        #expect(try await api.download(at: .export(year: 2026), to: file).file().byteCount == 7)
        #expect(try Data(contentsOf: file) == Data("one two".utf8))
    }

    private static func show(_ what: Any) { print(what) }
    private static func draw(_ fraction: Double?, _ rate: Double?, _ rest: Duration?) {}
}
