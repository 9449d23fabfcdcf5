// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectionType {
    /// Sends a route's request and returns the body as text, in the response's charset.
    ///
    /// The default charset is UTF-8. In UTF-8, invalid bytes become U+FFFD. A byte order mark is removed. Canceling the
    /// task ends the call immediately with kind `.cancelled`.
    ///
    /// - Throws: ``ApiConnectorError``; of kind `.decodingFailed` if the charset is not supported or the body is not
    ///   valid in it.
    @concurrent
    public func string(
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> String {
        try await text(.route(route), options)
    }

    /// Like ``string(at:options:)``, for a URL that a server returned; see ``value(_:at:method:body:options:)``.
    @concurrent
    @_disfavoredOverload
    public func string(
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> String {
        try await text(.url(url, method, body), options)
    }

    private func text(
        _ target: CallTarget<RouterType>,
        _ options: CallOptions
    ) async throws(ApiConnectorError) -> String {
        let pipeline = CallPipeline(self, options)
        return try await pipeline.run(pipeline.request(target.draft(in: environment), accepting: .acceptingAnything)) {
            (reader) throws(ApiConnectorError) in
            try reader.check()
            return try reader.text()
        }
    }
}

extension ResponseReader {
    /// The body as text.
    fileprivate func text() throws(ApiConnectorError) -> String {
        guard let charset = response.mediaType?[parameter: "charset"]?.lowercased(),
            charset != "utf-8", charset != "utf8"
        else {
            return String(decoding: body, as: UTF8.self).withoutMark
        }
        func failure(_ detail: String) -> ApiConnectorError {
            ApiConnectorError(.decodingFailed, at: .value, detail, response: response, body: body)
        }
        guard let encoding = Self.encodings[charset] else {
            throw failure(
                "the body's charset \"\(charset)\" is not supported; data(at:) returns the bytes"
            )
        }
        guard let text = String(data: body, encoding: encoding) else {
            throw failure("the body is not valid text in the response's charset \"\(charset)\"")
        }
        return text.withoutMark
    }

    /// The charsets of the WHATWG Encoding Standard that Foundation supports on all systems, by their common names.
    private static var encodings: [String: String.Encoding] {
        [
            "us-ascii": .ascii, "ascii": .ascii,
            "iso-8859-1": .isoLatin1, "latin1": .isoLatin1, "iso-8859-2": .isoLatin2,
            "windows-1250": .windowsCP1250, "windows-1251": .windowsCP1251, "windows-1252": .windowsCP1252,
            "windows-1253": .windowsCP1253, "windows-1254": .windowsCP1254,
            "utf-16": .utf16, "utf-16le": .utf16LittleEndian, "utf-16be": .utf16BigEndian, "utf-32": .utf32,
            "shift_jis": .shiftJIS, "euc-jp": .japaneseEUC, "iso-2022-jp": .iso2022JP,
        ]
    }
}

extension String {
    fileprivate var withoutMark: String { first == "\u{FEFF}" ? String(dropFirst()) : self }
}
