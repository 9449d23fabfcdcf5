// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// A secret in a credential, a header field, a query item or a JSON field of a call that is observed outside and inside
/// of what authenticates it; nothing that an observer can read holds it.
struct ObservedSecretTests {
    private static let credentials: [(name: String, make: @Sendable (String) -> ApiCredential)] = [
        ("bearer", { .bearer($0) }),
        ("basic", { .basic(user: "ada", password: $0) }),
        ("header", { .apiKey($0, inHeader: "Shop") }),
        ("query", { .apiKey($0, inQuery: "k") }),
        ("signature", { .signature(by: Signer(text: $0)) }),
    ]

    private struct Signer: RequestSigner {
        let text: String
        let secretHeaderNames: [HTTPHeaders.Name] = ["Stamp"]

        func sign(_ request: inout ApiRequest) async throws(ApiConnectorError) {
            request.headers["Stamp"] = text
            request.headers["X-Signature"] = text
        }
    }

    private enum Environment: String, ApiEnvironment {
        case test = "h"
    }

    private struct Route: ApiRouter {
        typealias EnvironmentType = Environment
        let secret: String
        let path = "/p"
        let method = HTTPMethod.post
        var queryItems: [URLQueryItem]? { [URLQueryItem(name: "access_token", value: secret)] }
        var headers: HTTPHeaders { ["X-Auth-Token": secret, "Cookie": "id=\(secret)"] }
        var body: RequestBody { .json(["password": secret, "a": "b"]) }
    }

    /// Everything that observers can read, of every event.
    private final class Reader: CallObserver {
        let texts = Locked<[String]>([])

        func handle(_ event: CallEvent) {
            var dumped = ""
            dump(event, to: &dumped)
            var texts = [
                "\(event)", String(reflecting: event), dumped, event.url(), event.url(redacting: Redactor()),
                event.curlCommand(), event.curlCommand(redacting: Redactor(headerNames: ["Other"])),
                "\(event.summary) \(event.summary.headers)",
                event.route ?? "", "\(event.kind)",
            ]
            if case .finished(let totals) = event.kind {
                texts += ["\(totals)", totals.outcome.label]
                if case .failed(let error) = totals.outcome {
                    texts += [
                        "\(error)", "\(error.request.map { "\($0) \($0.headers)" } ?? "")", error.localizedDescription,
                    ]
                }
            }
            self.texts.withLock { $0 += texts }
        }

        func take(_ text: String) {
            texts.withLock { $0.append(text) }
        }
    }

    private enum Ending: CaseIterable {
        case answered, refused, failed, redirected
    }

    /// Each one alone in every form and with every ending, and each pair, one around the other, with one of each in turn.
    private static let cases: [(stack: [Int], form: PlantedSecret.Form, endings: [Ending])] = {
        let forms = PlantedSecret.Form.allCases
        let pairs = credentials.indices.flatMap { one in
            credentials.indices.filter { $0 != one }.map { [one, $0] }
        }
        let endings = Ending.allCases
        return credentials.indices.flatMap { one in forms.map { ([one], $0, endings) } }
            + pairs.enumerated().map { index, pair in
                (pair, forms[index % forms.count], [endings[index % endings.count]])
            }
    }()

    @Test(arguments: cases)
    private func isFoundInNothingThatObserversSee(
        stack: [Int],
        form: PlantedSecret.Form,
        endings: [Ending]
    ) async throws {
        let secret = PlantedSecret(form, core: "'\\/{}[]:,=+%40&")
        let credentials = stack.map { Self.credentials[$0].make(secret.text) }
        for ending in endings {
            let reader = Reader()
            let metrics = CallMetrics()
            try await call(with: credentials, secret, to: ending, reader, metrics)
            reader.take("\(metrics.snapshot)")
            let texts = reader.texts.withLock { $0 }
            #expect(texts.count > 50)
            let leaks = texts.filter { !secret.traces(in: $0).isEmpty }
            #expect(leaks.first == nil, "\(stack.map { Self.credentials[$0].name }), \(ending)")
        }
    }

    private func call(
        with credentials: [ApiCredential],
        _ secret: PlantedSecret,
        to ending: Ending,
        _ reader: Reader,
        _ metrics: CallMetrics
    ) async throws {
        let transport = TestConnector { request in
            // The sent request contains the secret; otherwise there would be nothing to find.
            #expect("\(request.headers.map(\.value)) \(request.url)".contains("zqk") || secret.form != .raw)
            switch ending {
            case .answered: return .json(["token": secret.text])
            case .refused: return .json(["password": secret.text], status: 401)
            case .failed:
                let words = [NSLocalizedDescriptionKey: "Could not reach \(request.url)"]
                throw URLError(.cannotConnectToHost, userInfo: words)
            case .redirected where request.url.path() == "/p":
                return .status(307, headers: [.location: request.url.absoluteString.replacing("/p", with: "/q")])
            case .redirected: return .status(204)
            }
        }
        var authenticated = AnyProvider(transport.observing(by: reader))
        for credential in credentials {
            authenticated = AnyProvider(authenticated.authenticating(by: .fixed(credential)).observing(by: reader))
        }
        let provider =
            authenticated
            .observing(by: CallLog(from: .debug) { reader.take($1) })
            .observing(by: CallLog.curlOfFailedCalls { reader.take($0) })
            .observing(by: metrics)
            .observing(by: reader)
        let api = NetworkConnector(environment: .test, provider: provider, router: Route.self)
        do {
            let response = try await api.response(at: Route(secret: secret.text))
            reader.take("\(response)")
        } catch {
            reader.take(
                "\(error) \(error.response.map { "\($0)" } ?? "") \(error.request.map { "\($0) \($0.headers)" } ?? "")"
            )
        }
    }
}
