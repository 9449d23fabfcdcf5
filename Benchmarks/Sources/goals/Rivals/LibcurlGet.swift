// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import LibcurlGets
import MicroCases

/// Small GETs by a C program over libcurl's multi interface, which decodes nothing.
final class LibcurlGet {
    private let gets: OpaquePointer
    private let url: URL

    init(url: URL, inFlight: Int) throws {
        guard let gets = libcurl_gets_create(url.absoluteString, Int32(inFlight)) else {
            throw Program.Failure(command: "libcurl_gets_create", status: -1, output: "libcurl cannot be used")
        }
        self.gets = gets
        self.url = url
    }

    deinit { libcurl_gets_destroy(gets) }

    /// Measures the requests per second.
    ///
    /// Blocks the calling thread.
    func perSecond(for duration: Duration) throws -> Double {
        let result = libcurl_gets_run(gets, duration.seconds)
        let byteCount = Int64(result.completed) * Int64(NginxServer.smallBody.utf8.count)
        guard result.failed == 0, result.byte_count == byteCount else {
            throw WrongFixture(
                description: "\(url): \(result.failed) of \(result.completed) transfers failed, "
                    + "\(result.byte_count) of \(byteCount) bytes arrived"
            )
        }
        return Double(result.completed) / result.seconds
    }
}
