// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

extension HARReader {
    /// Reads the outcome of a request.
    func readAnswer(
        of entry: LocatedJSON,
        _ path: String,
        into exchange: inout RecordedExchange
    ) throws(FixtureError) {
        let response = try member("response", of: entry, path)
        let responsePath = path + ".response"
        let status = try member("status", of: response, responsePath)
        guard let number = status.number, let code = Int(exactly: number) else {
            throw expected("a whole number", status, responsePath + ".status")
        }
        guard code > 0 else {
            exchange.end = .failed(try failure(of: entry, path) ?? Self.browserFailure(response))
            return
        }
        exchange.status = HTTPStatus(rawValue: code)
        exchange.answerHeaders = try headers(of: response, responsePath)
        let content = response["content"] ?? LocatedJSON(content: .object([]), range: response.range)
        let data = try bytes(of: content, encoding: "encoding", responsePath + ".content")
        exchange.answer = data ?? Data()
        if let chunks = content["_chunks"]?.array {
            readChunks(chunks, into: &exchange)
            if let failure = try failure(of: entry, path) {
                exchange.end = .failed(failure)
            } else if entry["_end"]?.string == "left" {
                exchange.end = .left
            }
        } else {
            let size = content["size"]?.number ?? (exchange.answerHeaders[.contentLength] == "0" ? 0 : nil)
            readBrowserAnswer(content, size: size, isComplete: data != nil, into: &exchange)
        }
    }

    /// Reads the chunks of a body.
    ///
    /// If the body was edited by hand, its size may differ from the chunks. Chunks beyond the end of a shorter body are
    /// cut. For a longer body, the last chunk gets the rest.
    private func readChunks(_ chunks: [LocatedJSON], into exchange: inout RecordedExchange) {
        var end = 0
        for chunk in chunks {
            let count = chunk["byteCount"]?.number.flatMap { Int(exactly: $0) } ?? 0
            let next = min(end + min(max(count, 0), exchange.answer.count), exchange.answer.count)
            guard next > end else { continue }
            end = next
            exchange.chunks.append(RecordedExchange.Chunk(end: end, time: Self.duration(chunk["time"])))
        }
        guard end < exchange.answer.count else { return }
        if exchange.chunks.isEmpty {
            exchange.chunks = [RecordedExchange.Chunk(end: end, time: exchange.endTime)]
        }
        exchange.chunks[exchange.chunks.count - 1].end = exchange.answer.count
    }

    /// Reads an answer that a browser has exported.
    ///
    /// Its body is the body that the page got: decoded, as Unicode text, or missing.
    private func readBrowserAnswer(
        _ content: LocatedJSON,
        size: Double?,
        isComplete: Bool,
        into exchange: inout RecordedExchange
    ) {
        for name: HTTPHeaders.Name in [.contentEncoding, .contentLength, "Transfer-Encoding"] {
            exchange.answerHeaders.remove(name)
        }
        if !exchange.answerHeaders.contains(.contentType), let type = content["mimeType"]?.string,
            MediaType(type) != nil
        {
            exchange.answerHeaders[.contentType] = type
        }
        if let type = exchange.answerMediaType, type[parameter: "charset"] != nil,
            content["encoding"]?.string?.lowercased() != "base64"
        {
            let others = type.parameters.filter { $0.name != "charset" }
            let parameters = others + [MediaType.Parameter(name: "charset", value: "utf-8")]
            exchange.answerHeaders[.contentType] =
                MediaType(type.type, type.subtype, parameters: parameters).description
        }
        if !exchange.answer.isEmpty {
            exchange.chunks = [RecordedExchange.Chunk(end: exchange.answer.count, time: exchange.endTime)]
        }
        // The browser has taken the body from its cache. A replay has no cache, so it needs the status 200.
        if exchange.status == 304, !exchange.answer.isEmpty { exchange.status = 200 }
        let code = exchange.status?.rawValue ?? 0
        let hasNoBody = exchange.method == .head || (100..<200).contains(code) || [204, 205, 304].contains(code)
        // Browsers leave out the size of a redirect's body.
        let mayHaveNone = size == 0 || (size == nil && (300..<400).contains(code))
        if !isComplete, !hasNoBody, !mayHaveNone { exchange.end = .unknown }
    }

    private func failure(of entry: LocatedJSON, _ path: String) throws(FixtureError) -> RecordedFailure? {
        guard let failure = entry["_failure"], !failure.isNull else { return nil }
        let stage = failure["stage"]?.string.flatMap { ApiConnectorError.Stage(rawValue: $0) }
        return RecordedFailure(
            kind: ApiConnectorError.Kind(rawValue: try string("kind", of: failure, path + "._failure")),
            stage: stage ?? .provider,
            detail: failure["detail"]?.string ?? "the recording has a failure in place of an answer"
        )
    }

    /// The failure of a request with status 0, which was blocked, broken off or refused.
    ///
    /// Only Chrome reports which.
    private static func browserFailure(_ response: LocatedJSON) -> RecordedFailure {
        let code = response["_error"]?.string ?? ""
        let kinds: [String: ApiConnectorError.Kind] = [
            "net::ERR_NAME_NOT_RESOLVED": .nameNotResolved,
            "net::ERR_CONNECTION_REFUSED": .cannotConnect,
            "net::ERR_INTERNET_DISCONNECTED": .cannotConnect,
            "net::ERR_ADDRESS_UNREACHABLE": .cannotConnect,
            "net::ERR_CONNECTION_TIMED_OUT": .timedOut,
            "net::ERR_TIMED_OUT": .timedOut,
            "net::ERR_EMPTY_RESPONSE": .malformedResponse,
            "net::ERR_INVALID_HTTP_RESPONSE": .malformedResponse,
        ]
        let isTLS = ["net::ERR_CERT_", "net::ERR_SSL_"].contains { code.hasPrefix($0) }
        return RecordedFailure(
            kind: isTLS ? .secureConnectionFailed : kinds[code] ?? .connectionLost,
            stage: .provider,
            detail: "the recording has no answer, but status 0" + (code.isEmpty ? "" : " and \(code)")
        )
    }
}
