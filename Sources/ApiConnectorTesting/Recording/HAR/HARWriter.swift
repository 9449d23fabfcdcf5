// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Writes HAR 1.2; what HAR has twice is made of the one fact that an exchange has.
enum HARWriter {
    /// The file's bytes.
    ///
    /// - Throws: ``RecordingError`` where an exchange does not encode.
    static func data(_ exchanges: [RecordedExchange]) throws(RecordingError) -> Data {
        let log: JSONValue = [
            "version": "1.2",
            "creator": ["name": "ApiConnector", "version": "1"],
            "entries": .array(exchanges.map(entry)),
        ]
        return try encoded(["log": log]) + Data("\n".utf8)
    }

    /// One exchange's part of the file.
    static func data(_ exchange: RecordedExchange) throws(RecordingError) -> Data {
        try encoded(entry(exchange))
    }

    private static func encoded(_ value: JSONValue) throws(RecordingError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return try encoder.encode(value)
        } catch {
            throw RecordingError("the recording does not encode as JSON: \(error)")
        }
    }

    private static func entry(_ exchange: RecordedExchange) -> JSONValue {
        var entry: [String: JSONValue] = [
            "startedDateTime": .string(exchange.started.formatted(dateStyle)),
            "time": milliseconds(exchange.endTime),
            "request": request(exchange),
            "response": response(exchange),
            "cache": [:],
            "timings": [
                "send": 0,
                "wait": milliseconds(exchange.headTime),
                "receive": milliseconds(max(exchange.endTime - exchange.headTime, .zero)),
            ],
        ]
        switch exchange.end {
        case .finished, .unknown: break
        case .left: entry["_end"] = "left"
        case .failed(let failure):
            entry["_failure"] = [
                "kind": .string(failure.kind.rawValue),
                "stage": .string(failure.stage.rawValue),
                "detail": .string(failure.detail),
            ]
        }
        return .object(entry)
    }

    private static func request(_ exchange: RecordedExchange) -> JSONValue {
        let items = URLComponents(string: exchange.url)?.queryItems ?? []
        var request: [String: JSONValue] = [
            "method": .string(exchange.method.rawValue),
            "url": .string(exchange.url),
            "httpVersion": "HTTP/1.1",
            "headers": headers(exchange.headers),
            "queryString": .array(items.map { pair($0.name, $0.value ?? "") }),
            "cookies": .array(exchange.headers.values(.cookie).flatMap { $0.split(separator: ";") }.map(cookie)),
            "headersSize": -1,
            "bodySize": exchange.body.map { .number(JSONNumber($0.count)) } ?? 1,
        ]
        if let body = exchange.body, !body.isEmpty {
            var content = text(of: body, encoding: "_encoding")
            content["mimeType"] = .string(exchange.mediaType?.description ?? "application/octet-stream")
            if exchange.mediaType?.subtype == MediaType.form.subtype {
                let form = URLComponents(
                    string: "?" + String(decoding: body, as: UTF8.self).replacing("+", with: "%20")
                )
                content["params"] = .array((form?.queryItems ?? []).map { pair($0.name, $0.value ?? "") })
            }
            request["postData"] = .object(content)
        }
        return .object(request)
    }

    private static func response(_ exchange: RecordedExchange) -> JSONValue {
        var content: [String: JSONValue] = [
            "size": .number(JSONNumber(exchange.answer.count)),
            "mimeType": .string(exchange.answerMediaType?.description ?? "x-unknown"),
        ]
        if exchange.end == .unknown {
            content["size"] = 1
        } else if exchange.status != nil {
            content.merge(text(of: exchange.answer, encoding: "encoding")) { _, new in new }
            content["_chunks"] = .array(
                exchange.parts.map { part in
                    ["byteCount": .number(JSONNumber(part.bytes.count)), "time": milliseconds(part.time)]
                }
            )
        }
        return [
            "status": .number(JSONNumber(exchange.status?.rawValue ?? 0)),
            "statusText": .string(exchange.status.map(phrase) ?? ""),
            "httpVersion": "HTTP/1.1",
            "headers": headers(exchange.answerHeaders),
            "cookies": .array(exchange.answerHeaders.values(.setCookie).map { cookie($0.prefix { $0 != ";" }) }),
            "content": .object(content),
            "redirectURL": .string(exchange.answerHeaders[.location] ?? ""),
            "headersSize": -1,
            "bodySize": .number(JSONNumber(exchange.answer.count)),
        ]
    }

    // MARK: - Parts of both messages

    private static func headers(_ headers: HTTPHeaders) -> JSONValue {
        .array(headers.map { pair($0.name.rawValue, $0.value) })
    }

    private static func cookie(_ text: Substring) -> JSONValue {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0].trimmingCharacters(in: .whitespaces)
        return pair(name, parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
    }

    private static func pair(_ name: String, _ value: String) -> JSONValue {
        ["name": .string(name), "value": .string(value)]
    }

    /// Bytes as a text where they are one, else in base64.
    private static func text(of bytes: Data, encoding: String) -> [String: JSONValue] {
        if let text = String(validating: bytes, as: UTF8.self) { return ["text": .string(text)] }
        return ["text": .string(bytes.base64EncodedString()), encoding: "base64"]
    }

    private static func milliseconds(_ time: Duration) -> JSONValue {
        JSONNumber(((time / .milliseconds(1)) * 1000).rounded() / 1000).map(JSONValue.number) ?? 0
    }

    private static func phrase(_ status: HTTPStatus) -> String {
        String(status.description.drop { $0 != " " }.dropFirst())
    }

    private static let dateStyle = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}
