// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// The advice in the texts of errors.
struct ErrorTextTests {
    @Test func anEarlierAttemptWhoseBodyBrokeIsNotListedWithItsStatus() throws {
        var request = ApiRequest(url: try #require(URL(string: "http://api.example.com/posts")))
        let broken = ApiConnectorError(
            .connectionLost,
            "it broke",
            response: ApiResponse(to: request, status: 200),
            body: Data()
        )
        request.beginNextAttempt(after: .failure(broken), duration: .zero)
        let error = ApiConnectorError(.timedOut, "it took too long", request: request)
        #expect(error.description.contains("1 earlier attempt failed: connectionLost (waited 0.0 seconds)"))
    }

    @Test func aPrintedRequestIsOneLineWithoutSecrets() throws {
        let url = try #require(URL(string: "https://api.example.com:443/me?page=2&token=hush"))
        let request = ApiRequest(url: url, method: .delete, headers: ["Authorization": "Bearer hush"])
        let summary = RequestSummary(request)
        #expect("\(summary)" == "DELETE https://api.example.com/me?page=2&token=REDACTED")
    }

    @Test func theAttemptsOfAnotherCallDoNotReplaceThoseOfTheRequest() throws {
        func request(after kind: ApiConnectorError.Kind) throws -> ApiRequest {
            var request = ApiRequest(url: try #require(URL(string: "http://api.example.com/posts")))
            request.beginNextAttempt(after: .failure(ApiConnectorError(kind, "it broke")), duration: .zero)
            return request
        }
        let other = ApiConnectorError(.timedOut, "it took too long", request: try request(after: .stalled))
        #expect(other.earlierAttempts.map(\.kind) == [.stalled])
        let error = #expect(throws: ApiConnectorError.self) {
            try request(after: .connectionLost).endAttempts(with: .failure(other), because: .attemptLimit)
        }
        #expect(error?.earlierAttempts.map(\.kind) == [.connectionLost])
    }

    @Test(arguments: [1024, 1025]) func anErrorShows1024BytesOfTheBody(_ byteCount: Int) async throws {
        let body = Data(repeating: UInt8(ascii: "x"), count: byteCount)
        let api = api { _ in .data(body, status: 500) }
        let error = try await failure { () throws(ApiConnectorError) in try await api.send(at: Endpoint("/")) }
        #expect(error.response?.bodyPrefix.utf8.count == 1024)
        #expect(error.response?.isBodyTruncated == (byteCount > 1024))
    }

    private typealias Route = Endpoint<ApiPath>

    private func api(
        _ place: Place = Place(),
        timeouts: Timeouts = .unlimited,
        clock: ManualClock = ManualClock(),
        _ answer: @escaping @Sendable (ApiRequest) -> TestConnectorResponse
    ) -> NetworkConnector<TestConnector<ClosureResponses>, Route> {
        NetworkConnector(
            environment: place,
            provider: TestConnector { answer($0) },
            configuration: ConnectionConfiguration(timeouts: timeouts, timeSource: clock)
        )
    }

    private func text(of status: HTTPStatus, headers: HTTPHeaders = HTTPHeaders(), sending: HTTPHeaders = HTTPHeaders())
        async throws -> String
    {
        let api = api { _ in .status(status, headers: headers) }
        return try await failure { () throws(ApiConnectorError) in
            try await api.send(at: Endpoint("/"), options: CallOptions(headers: sending))
        }.description
    }

    @Test func a304AdvisesToCache() async throws {
        #expect(
            try await text(of: 304).hasSuffix(
                "The resource has not changed: wrap the provider in caching(in:), "
                    + "or send no If-None-Match and If-Modified-Since."
            )
        )
        #expect(
            try await text(of: 300).hasSuffix(
                "Follow redirects with options.redirects, or request the new URL directly."
            )
        )
    }

    @Test func a401SaysWhetherTheRequestCarriedCredentials() async throws {
        #expect(
            try await text(of: 401, sending: ["Authorization": "Bearer x"])
                .hasSuffix("Check the credentials that the request carries.")
        )
        #expect(
            try await text(of: 401)
                .hasSuffix(
                    "The request carried no credentials: add them with authenticating(by:for:) or a header field."
                )
        )
        #expect(
            try await text(of: 403)
                .hasSuffix(
                    "The request carried no credentials: add them with authenticating(by:for:) or a header field."
                )
        )
        #expect(try await text(of: 403, headers: ["Retry-After": "5"]).hasSuffix("Send requests less often."))
    }

    @Test func a401OfAnotherOriginSaysThatTheTokenWasWithheld() async throws {
        let provider = TestConnector { _ in .status(401) }.authenticating(by: .fixed(.bearer("hush")))
        let api = NetworkConnector(environment: Place(), provider: provider, router: Route.self)
        let url = try #require(URL(string: "http://other.example.com/next"))
        let withheld = try await failure { () throws(ApiConnectorError) in try await api.send(at: url) }
        #expect(
            withheld.description.hasSuffix(
                "The request carried no credentials: they are sent only to the environment's own origin. Name the "
                    + "other origin in authenticating(by:for:), or set a header field in the call's options."
            ),
            "\(withheld)"
        )
        let own = try await failure { () throws(ApiConnectorError) in try await api.send(at: Endpoint("/")) }
        #expect(own.description.hasSuffix("Check the credentials that the request carries."))
    }

    @Test func aDeadlineErrorNamesTheAllowedTime() async throws {
        let clock = ManualClock()
        let api = api(timeouts: Timeouts(attempt: nil, stall: Timeouts.noLimit, overall: .seconds(30)), clock: clock) {
            _ in .never
        }
        async let outcome = failure { () throws(ApiConnectorError) in try await api.send(at: Endpoint("/")) }
        clock.advance(by: try await clock.nextSleep())
        #expect(
            try await outcome.description.hasSuffix(
                "Timeouts.overall limits the call to 30.0 seconds: raise it, or request less."
            )
        )
    }

    @Test func aWrappersTotalTimeoutNamesTheAllowedTime() async throws {
        let clock = ManualClock()
        let api = NetworkConnector(
            environment: Place(),
            provider: TestConnector { _ in .never }.timeLimiting(overall: .seconds(5)),
            router: Route.self,
            configuration: ConnectionConfiguration(
                timeouts: Timeouts(attempt: nil, stall: Timeouts.noLimit, overall: .seconds(30)),
                timeSource: clock
            )
        )
        async let outcome = failure { () throws(ApiConnectorError) in try await api.send(at: Endpoint("/")) }
        clock.advance(by: try await clock.nextSleep())
        #expect(
            try await outcome.description.hasSuffix(
                "timeLimiting(overall:) limits the call to 5.0 seconds: raise it, or request less."
            )
        )
    }

    @Test(
        arguments: [
            ("image/png", Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0]), "10 bytes of image/png"),
            ("image/gif", Data("GIF89a".utf8), "6 bytes of image/gif"),
            ("application/json", Data([0x1F, 0x8B, 0x08, 0, 1]), "5 bytes of application/json"),
            (nil, Data([0, 1]), "2 bytes of an unknown type"),
            ("text/plain", Data([0xFF, 0xFE, 0x70, 0, 0x77, 0]), "6 bytes of text/plain"),
            ("text/plain", Data([0, 0x70, 0, 0x77]), "4 bytes of text/plain"),
        ] as [(String?, Data, String)]
    )
    func aBinaryBodyIsShownAsItsTypeAndLength(_ type: String?, _ body: Data, _ shown: String) async throws {
        let headers: HTTPHeaders = type.map { ["Content-Type": $0] } ?? HTTPHeaders()
        let api = api { _ in .data(body, status: 500, headers: headers) }
        let error = try await failure { () throws(ApiConnectorError) in try await api.send(at: Endpoint("/")) }
        #expect(error.response?.bodyPrefix == shown)
        #expect(error.description.hasSuffix(" The body: \(shown)"), "\(error)")
    }

    @Test(arguments: [
        (ApiConnectorError.Kind.nameNotResolved, "The server cannot be reached."),
        (.timedOut, "The server took too long to respond."), (.cancelled, "The request was canceled."),
        (.decodingFailed, "The server's response could not be read."),
        (.invalidRequest, "The request could not be made."),
        (.credentialsUnavailable, "You are not signed in."), (.other, "Something went wrong."),
    ])
    func theUserReadsOneSentence(_ kind: ApiConnectorError.Kind, _ sentence: String) {
        let url = URL(filePath: "/secret")
        let error = ApiConnectorError(kind, "a detail of http://api.example.com", request: ApiRequest(url: url))
        #expect(error.localizedDescription == sentence)
        #expect(error.description.contains("a detail"))
    }

    @Test(
        arguments: [
            (401, "You are not signed in."), (403, "You are not allowed to do this."), (404, "This was not found."),
            (429, "There were too many requests. Try again later."),
            (503, "The server has a problem. Try again later."),
            (400, "The server refused the request."),
        ] as [(HTTPStatus, String)]
    )
    func theUserReadsWhatAStatusMeans(_ status: HTTPStatus, _ sentence: String) async throws {
        let api = api { _ in .json(["why": "http://api.example.com"], status: status) }
        let error = try await failure { () throws(ApiConnectorError) in try await api.send(at: Endpoint("/")) }
        #expect(error.localizedDescription == sentence)
    }
}
