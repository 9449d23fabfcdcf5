// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Writes a request as a `curl` command.
enum CurlCommand {
    /// The command, as ``ApiRequest/curlCommand(redacting:)`` describes it.
    static func text(of request: ApiRequest, redacting redactor: Redactor?) -> String {
        let content = CurlContent(request, redactor)
        let (method, body, headers) = (request.method, request.body, request.headers)
        let url = redactor?.redact(request.url) ?? request.url.textWithoutDefaultPort
        var lines = [content.isPiped ? "\(content.source) | curl" : "curl"]
        if method == .head, body.isEmpty {
            lines[0] += " --head"
        } else if method != .get || !body.isEmpty {
            lines[0] += " --request \(ShellText.word(method.rawValue))"
        }
        // By default, curl expands brackets and braces as patterns, and resolves dots.
        if url.utf8.contains(where: Self.globs.contains) { lines[0] += " --globoff" }
        if url.contains("/.") { lines[0] += " --path-as-is" }
        lines.append("--url \(ShellText.word(url))")
        for field in redactor?.redact(headers) ?? headers where !(content.isRedacted && field.name == .contentLength) {
            // If nothing follows the colon, curl omits the field.
            let text = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
            lines.append("--header \(ShellText.word(text))")
        }
        if !body.isEmpty, !headers.contains(.contentType) {
            lines.append("--header \(ShellText.word("\(HTTPHeaders.Name.contentType): \(content.mediaType)"))")
        }
        if !body.isEmpty { lines.append(content.isPiped ? "--data-binary @-" : "--data-raw \(content.source)") }
        return lines.joined(separator: " \\\n  ")
    }

    private static let globs = ByteSet("[]{}")
}

/// A body in the form in which curl gets it.
private struct CurlContent {
    /// Linux allows 128 KiB in one argument.
    private static let maximumArgumentByteCount = 64 * 1024

    let mediaType: MediaType
    let isRedacted: Bool
    let isPiped: Bool
    /// The argument, or the command that writes the bytes.
    let source: String

    init(_ request: ApiRequest, _ redactor: Redactor?) {
        mediaType = request.body.mediaType ?? .octetStream
        let (data, isBody) = Self.data(request.body)
        let type = request.headers[.contentType].flatMap { MediaType($0) } ?? mediaType
        let shown: Data =
            if redactor != nil, isBody, request.hasCompressedBody {
                Data("<\(data.count) bytes with a Content-Encoding>".utf8)
            } else {
                redactor?.redact(body: data, mediaType: type) ?? data
            }
        isRedacted = shown != data
        let bytes = Array(shown)
        let text = String(validating: bytes, as: UTF8.self)
        let argument = text.flatMap { ShellText.isTypeable($0) ? $0 : nil }
        if let argument, bytes.count <= Self.maximumArgumentByteCount {
            isPiped = false
            source = ShellText.word(argument)
        } else {
            isPiped = true
            source = ShellText.printf(bytes)
        }
    }

    /// The bytes that are sent, or the text of an error; JSON that the connection has not encoded yet has sorted keys.
    private static func data(_ body: RequestBody) -> (Data, isBody: Bool) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        do {
            return (try body.encoded(with: encoder).data(), true)
        } catch {
            return (Data("<\(error.detail)>".utf8), false)
        }
    }
}
