// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct RandomURLTests {
    /// The segments that a path should have.
    private static func segments(of text: String) -> [[UInt8]] {
        guard !text.isEmpty else { return [] }
        let bytes = Array(text.utf8)
        let inner = bytes.first == UInt8(ascii: "/") ? bytes.dropFirst() : bytes[...]
        return inner.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Array($0) }
    }

    private static func withoutSlashesBehind(_ text: String) -> String {
        var scalars = Array(text.unicodeScalars)
        while scalars.last == "/" { scalars.removeLast() }
        var kept = String.UnicodeScalarView()
        kept.append(contentsOf: scalars)
        return String(kept)
    }

    /// Why a route's URL is not what its parts say; nil where it is.
    private static func flaw(
        of url: URL,
        segments: [[UInt8]],
        query: [(name: String, value: String?)]?
    ) -> String? {
        guard let parts = SplitURL(url.absoluteString) else { return "is no URL" }
        guard parts.scheme == "https", parts.host == "api.example.com", parts.port == "8443" else {
            return "has another authority"
        }
        guard url.host == "api.example.com", url.port == 8443, url.user == nil, url.fragment == nil else {
            return "has another authority, says Foundation"
        }
        guard parts.segments.map(SplitURL.decoded) == segments else { return "has another path" }
        guard url.path(percentEncoded: true) == parts.segments.map({ "/" + $0 }).joined() else {
            return "has another path, says Foundation"
        }
        let names = parts.query?.map { SplitURL.decoded($0.name) }
        let values = parts.query?.map { $0.value.flatMap(SplitURL.decoded) }
        guard names == query?.map({ Array($0.name.utf8) }), values == query?.map({ $0.value.map { Array($0.utf8) } })
        else { return "has another query" }
        return nil
    }

    @Test func decodesToItsParts() {
        var texts = HostileText(.printed())
        var failures: [String] = []
        for _ in 0..<SplitMix64.caseCount {
            let (base, value, text, name) = (texts.next(), texts.next(), texts.next(), texts.next())
            let place = Place(scheme: .https, port: 8443, basePath: base)
            let baseSegments = Self.segments(of: Self.withoutSlashesBehind(base))
            let query: [(name: String, value: String?)] = [(name, value), (text, nil), ("", name)]
            let items = query.map { URLQueryItem(name: $0.name, value: $0.value) }
            let byValue = Endpoint(path: "/v/\(value)/x\(text)" as ApiPath, queryItems: items).url(for: place)
            let valueSegments = [Array("v".utf8), Array(value.utf8), Array("x".utf8) + Array(text.utf8)]
            if let flaw = Self.flaw(of: byValue, segments: baseSegments + valueSegments, query: query) {
                failures.append("\(byValue) \(flaw); of \(String(reflecting: [base, value, text, name]))")
            }
            let byText = Endpoint(text: text).url(for: place)
            if let flaw = Self.flaw(of: byText, segments: baseSegments + Self.segments(of: text), query: nil) {
                failures.append("\(byText) \(flaw); of \(String(reflecting: [base, text]))")
            }
        }
        #expect(failures.count == 0, "\(failures.prefix(5))")
    }

    @Test func keepsTheEscapesOfEncodedPaths() {
        var texts = HostileText(.printed())
        var failures: [String] = []
        for _ in 0..<SplitMix64.caseCount {
            let text = texts.next()
            let path = Endpoint(ApiPath(alreadyEncoded: text)).url(for: Place(scheme: .https, port: 8443))
            let parts = SplitURL(path.absoluteString)
            let decoded = parts?.segments.map { String(decoding: SplitURL.decoded($0) ?? [], as: UTF8.self) }
            let expected = Self.segments(of: text).map { Self.leniently(decoded: $0) }
            if decoded != expected || parts?.host != "api.example.com" || parts?.query != nil {
                failures.append("\(path) of \(String(reflecting: text))")
            }
        }
        #expect(failures.count == 0, "\(failures.prefix(5))")
    }

    /// Escapes decoded, a `%` that starts none as it is.
    private static func leniently(decoded bytes: [UInt8]) -> String {
        var output: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            let isEscape = byte == UInt8(ascii: "%") && digits.utf8.count == 2 && digits.allSatisfy(\.isHexDigit)
            if isEscape, digits.allSatisfy(\.isASCII), let value = UInt8(digits, radix: 16) {
                output.append(value)
                rest = rest.dropFirst(2)
            } else {
                output.append(byte)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}
