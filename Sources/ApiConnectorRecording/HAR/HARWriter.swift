// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ApiConnectorShared

/// Writes recorded exchanges as HAR 1.2.
enum HARWriter {
    /// The file's bytes.
    ///
    /// - Throws: ``/ApiConnectorTesting/FixtureError`` if an exchange does not encode.
    static func data(_ exchanges: [RecordedExchange]) throws(FixtureError) -> Data {
        try encoded { try HARFile.data(exchanges.map(entry)) }
    }

    /// One exchange's part of the file.
    static func data(_ exchange: RecordedExchange) throws(FixtureError) -> Data {
        try encoded { try HARFile.data(entry(exchange)) }
    }

    private static func encoded(_ encode: () throws -> Data) throws(FixtureError) -> Data {
        do {
            return try encode()
        } catch {
            throw FixtureError("the recording does not encode as JSON: \(error)")
        }
    }

    private static func entry(_ exchange: RecordedExchange) -> HAREntry {
        var failure: [String: String]?
        if case .failed(let recorded) = exchange.end {
            failure = [
                "kind": recorded.kind.rawValue, "stage": recorded.stage.rawValue, "detail": recorded.detail,
            ]
        }
        return HAREntry(
            started: exchange.started,
            time: exchange.endTime,
            request: request(exchange),
            response: response(exchange),
            timings: HARTimings(
                wait: exchange.headTime,
                receive: max(exchange.endTime - exchange.headTime, .zero)
            ),
            end: exchange.end == .left ? "left" : nil,
            failure: failure
        )
    }

    private static func request(_ exchange: RecordedExchange) -> HARRequest {
        HARRequest(
            method: exchange.method.rawValue,
            url: exchange.url,
            headers: pairs(exchange.headers),
            body: exchange.body,
            mediaType: exchange.mediaType?.description
        )
    }

    private static func response(_ exchange: RecordedExchange) -> HARResponse {
        let hasBody = exchange.end != .unknown && exchange.status != nil
        return HARResponse(
            status: exchange.status?.rawValue,
            statusText: exchange.status.map { String($0.description.drop { $0 != " " }.dropFirst()) } ?? "",
            headers: pairs(exchange.answerHeaders),
            body: hasBody ? exchange.answer : nil,
            mediaType: exchange.answerMediaType?.description,
            // In HAR, -1 means an unknown size, which a reader may take for an empty body. So the size is 1.
            size: exchange.end == .unknown ? 1 : exchange.answer.count,
            bodySize: exchange.answer.count,
            chunks: hasBody
                ? exchange.parts.map { HARResponse.Chunk(byteCount: $0.bytes.count, time: $0.time) } : nil
        )
    }

    private static func pairs(_ headers: HTTPHeaders) -> [HARPair] {
        headers.map { HARPair(name: $0.name.rawValue, value: $0.value) }
    }
}
