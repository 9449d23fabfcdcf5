// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// One line of the page's list.
struct ExchangeSummary: Encodable {
    let number: Int
    let call: String
    let attempt: Int
    /// The start in milliseconds since 1970.
    let started: Double
    /// The time from the start to the end, or until now, in milliseconds.
    let elapsed: Double
    let method: String
    let url: String
    let route: String?
    let status: Int?
    /// The state: `running`, `finished`, `left` or `failed`.
    let state: String
    let failure: String?
    let byteCount: Int?
    let phases: [Phase]

    struct Phase: Encodable {
        let name: String
        let duration: Double
    }

    init(_ exchange: ArchivedExchange) {
        number = exchange.number
        call = exchange.call.description
        attempt = exchange.attempt
        started = exchange.started.timeIntervalSince1970 * 1000
        elapsed = exchange.elapsed / .milliseconds(1)
        method = exchange.method.rawValue
        url = exchange.url
        route = exchange.routeName
        status = exchange.status?.rawValue
        state =
            switch exchange.outcome {
            case nil: "running"
            case .answered: "finished"
            case .left: "left"
            case .failed: "failed"
            }
        failure = exchange.failure
        byteCount = exchange.times?.responseBodyByteCount.map { Int(clamping: $0) }
        let times = exchange.times
        phases = TransportTimes.Phase.allCases.compactMap { phase in
            times?[phase].map { Phase(name: phase.rawValue, duration: $0 / .milliseconds(1)) }
        }
    }
}

/// The details of one exchange on the page.
struct ExchangeDetail: Encodable {
    let summary: ExchangeSummary
    let facts: [Field]
    let requestHeaders: [Field]
    let requestBody: Body?
    let responseHeaders: [Field]
    let responseBody: Body?
    let curl: String
    let canned: String

    struct Field: Encodable {
        let name: String
        let value: String
    }

    struct Body: Encodable {
        let text: String?
        let byteCount: Int?
        let isTruncated: Bool
        let mediaType: String?

        init(_ body: ArchivedExchange.Body) {
            text = String(validating: body.bytes, as: UTF8.self)
            byteCount = body.byteCount
            isTruncated = body.isTruncated
            mediaType = body.mediaType?.description
        }
    }

    init(_ exchange: ArchivedExchange) {
        summary = ExchangeSummary(exchange)
        facts = Self.facts(exchange)
        requestHeaders = Self.fields(exchange.headers)
        requestBody = exchange.body.map(Body.init)
        responseHeaders = Self.fields(exchange.responseHeaders)
        responseBody = exchange.responseBody.map(Body.init)
        curl = exchange.curlCommand
        canned = CannedLine(exchange).text
    }

    private static func fields(_ headers: ApiConnector.HTTPHeaders) -> [Field] {
        headers.map { Field(name: $0.name.rawValue, value: $0.value) }
    }

    private static func facts(_ exchange: ArchivedExchange) -> [Field] {
        let times = exchange.times
        let facts: [(String, String?)] = [
            ("Call", exchange.call.description),
            ("Attempt", "\(exchange.attempt)"),
            ("Route", exchange.routeName),
            ("Failure", exchange.failure),
            ("HTTP version", times?.httpVersion),
            ("TLS version", times?.tlsVersion),
            ("Connection", times?.isConnectionReused.map { $0 ? "reused" : "new" }),
            (
                "Remote address",
                times?.remoteAddress.map { address in
                    times?.remotePort.map { "\(address), port \($0)" } ?? address
                }
            ),
            ("Request body on the wire", times?.requestBodyByteCount.map { "\($0) bytes" }),
            ("Response body on the wire", times?.responseBodyByteCount.map { "\($0) bytes" }),
            ("Response body decompressed", times?.decodedBodyByteCount.map { "\($0) bytes" }),
        ]
        return facts.compactMap { name, value in value.map { Field(name: name, value: $0) } }
    }
}
