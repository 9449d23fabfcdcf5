// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Properties of an environment that have another type than the protocol's requirement.
struct EnvironmentPropertyTests {
    private struct Route<Environment: ApiEnvironment>: ApiRouter {
        typealias EnvironmentType = Environment
        let path = "/me"
    }

    private struct PlainPort: ApiEnvironment {
        let host = "127.0.0.1"
        let port: Int = 8080
    }

    private struct SmallPort: ApiEnvironment {
        let host = "127.0.0.1"
        var port: UInt16? = 8080
    }

    private struct TextScheme: ApiEnvironment {
        let host = "127.0.0.1"
        let scheme = "https"
    }

    private struct OptionalPath: ApiEnvironment {
        let host = "127.0.0.1"
        var basePath: String?
    }

    private final class PlainFields: ApiEnvironment {
        let host = "127.0.0.1"
        let defaultHeaders = ["User-Agent": "Notes/1.0"]
    }

    private func url<Environment: ApiEnvironment>(
        in environment: Environment
    ) throws(ApiConnectorError) -> String {
        try NetworkConnector(
            environment: environment,
            provider: TestConnector { _ in .never },
            router: Route<Environment>.self
        )
        .request(at: Route()).url.absoluteString
    }

    @Test func areRefusedWithTheirNameAndBothTypes() throws {
        let rows: [(any ApiEnvironment, String)] = [
            (PlainPort(), "port has the type Int, so the default applies; declare it as Optional<Int>"),
            (SmallPort(), "port has the type Optional<UInt16>, so the default applies; declare it as Optional<Int>"),
            (TextScheme(), "scheme has the type String, so the default applies; declare it as HTTPScheme"),
            (OptionalPath(), "basePath has the type Optional<String>, so the default applies; declare it as String"),
            (
                PlainFields(),
                "defaultHeaders has the type Dictionary<String, String>, so the default applies; declare it as "
                    + "HTTPHeaders"
            ),
        ]
        for (environment, detail) in rows {
            // The second call uses the result that is kept for the type.
            for _ in 1...2 {
                let error = try #require(throws: ApiConnectorError.self) { try url(in: environment) }
                #expect(error.kind == .invalidRequest)
                #expect(error.stage == .url)
                #expect(error.detail.hasSuffix(": the environment's property " + detail), "\(error)")
            }
        }
    }

    private enum Cases: ApiEnvironment {
        case scheme(String)
        case port(Int)

        var host: String { "127.0.0.1" }
    }

    private struct Mirrored: ApiEnvironment, CustomReflectable {
        let host = "127.0.0.1"
        var customMirror: Mirror { Mirror(self, children: ["port": "none"]) }
    }

    /// Its extension of another protocol fulfills the requirement.
    private struct Extended: SecureEnvironment {
        let host = "127.0.0.1"
        let port: Int = 8443
    }

    @Test func areNotConfusedWithOtherChildrenOfAMirror() throws {
        #expect(try url(in: Cases.port(1)) == "http://127.0.0.1:80/me")
        #expect(try url(in: Cases.scheme("https")) == "http://127.0.0.1:80/me")
        #expect(try url(in: Mirrored()) == "http://127.0.0.1:80/me")
        #expect(try url(in: Extended()) == "http://127.0.0.1:9443/me")
    }
}

private protocol SecureEnvironment: ApiEnvironment {}

extension SecureEnvironment {
    var port: Int? { 9443 }
}
