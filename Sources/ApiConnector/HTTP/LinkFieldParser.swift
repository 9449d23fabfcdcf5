// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Parses a `Link` field's value with the algorithms of RFC 8288, appendix B.
///
/// These algorithms accept more than the grammar: blanks around `=`, parameters without a value, and any text between
/// `<` and `>`. Empty parts between commas are left out, as in all lists (RFC 9110, section 5.6.1.2).
struct LinkFieldParser {
    private var text: Substring.UTF8View

    static func links(in value: String, of url: URL) -> [WebLink] {
        var parser = LinkFieldParser(text: value[...].utf8)
        var links: [WebLink] = []
        while let (reference, parameters) = parser.nextLink() {
            if let link = WebLink(reference, parameters, of: url) { links.append(link) }
        }
        return links
    }

    /// The text of a link from the response itself with the relation `next` that is not a URL; nil if there is none.
    ///
    /// A link whose `anchor` is not a URL may belong to the response; the text then has the anchor, too.
    ///
    /// If the field is malformed and the part that cannot be read contains `rel=next`, that part is returned.
    static func invalidNext(in value: String, of url: URL) -> String? {
        var parser = LinkFieldParser(text: value[...].utf8)
        while true {
            let unread = parser.text
            guard let (reference, parameters) = parser.nextLink() else {
                let rest = String(Substring(unread))
                let text = rest.lowercased().filter { !" \t\"".contains($0) }
                return text.contains("rel=next") ? rest.withoutBlanks : nil
            }
            guard WebLink(reference, parameters, of: url) == nil else { continue }
            // An empty reference is valid, so this link lacks nothing but a URL.
            if let link = WebLink("", parameters, of: url) {
                if link.has(relation: "next"), link.context == url { return reference }
            } else if let anchor = parameters.first(where: { $0.name == "anchor" }),
                WebLink("", parameters.filter { $0.name != "anchor" }, of: url)?.has(relation: "next") == true
            {
                return "<\(reference)>; anchor=\(anchor.value)"
            }
        }
    }

    /// One iteration of the loop in section B.2; nil at the end, and if no link begins here.
    private mutating func nextLink() -> (reference: String, parameters: [WebLink.Attribute])? {
        while let byte = text.first, byte == UInt8(ascii: ",") || Self.isBlank(byte) { text.removeFirst() }
        guard take(UInt8(ascii: "<")) else { return nil }
        let reference = read(until: { $0 == UInt8(ascii: ">") })
        guard take(UInt8(ascii: ">")) else { return nil }
        return (reference, readParameters())
    }

    /// Section B.3.
    private mutating func readParameters() -> [WebLink.Attribute] {
        var parameters: [WebLink.Attribute] = []
        while true {
            skipBlanks()
            guard take(UInt8(ascii: ";")) else { break }
            skipBlanks()
            let name = read(until: { Self.isBlank($0) || $0 == UInt8(ascii: "=") || Self.endsValue($0) })
            skipBlanks()
            var value: String? = ""
            if take(UInt8(ascii: "=")) {
                skipBlanks()
                value = text.first == UInt8(ascii: "\"") ? readQuoted() : read(until: Self.endsValue).withoutBlanks
                if name.hasSuffix("*") { value = value.flatMap(Self.decoded) }
            }
            if let value, !name.isEmpty, name != "*" {
                parameters.append(WebLink.Attribute(name: name.lowercased(), value: value))
            }
        }
        return parameters
    }

    /// Section B.4: a backslash escapes the next byte, and the closing quote may be missing.
    private mutating func readQuoted() -> String {
        text.removeFirst()
        var bytes: [UInt8] = []
        while let byte = text.popFirst(), byte != UInt8(ascii: "\"") {
            if byte != UInt8(ascii: "\\") {
                bytes.append(byte)
            } else if let escaped = text.popFirst() {
                bytes.append(escaped)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func read(until isEnd: (UInt8) -> Bool) -> String {
        let part = text.prefix { !isEnd($0) }
        text = text[part.endIndex...]
        return String(decoding: part, as: UTF8.self)
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard text.first == byte else { return false }
        text.removeFirst()
        return true
    }

    private mutating func skipBlanks() {
        text = text.drop(while: Self.isBlank)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func endsValue(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",") }

    /// Decodes a value with character set and language: `UTF-8'de'n%c3%a4chste` (RFC 8187, section 3.2).
    ///
    /// Returns nil for another character set or an invalid encoding, and the parameter is then left out.
    private static func decoded(_ value: String) -> String? {
        let parts = value.utf8.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, String(decoding: parts[0], as: UTF8.self).lowercased() == "utf-8" else { return nil }
        var bytes: [UInt8] = []
        var rest = parts[2]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(TextEncoding.hexadecimal),
                let low = rest.popFirst().flatMap(TextEncoding.hexadecimal)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension WebLink {
    /// Section B.2, from step 8 on; nil for a link without a relation or a valid URL.
    fileprivate init?(_ reference: String, _ parameters: [Attribute], of url: URL) {
        let relations = parameters.first { $0.name == "rel" }?.value.lowercased().split { " \t".contains($0) }
        let anchor = parameters.first { $0.name == "anchor" }?.value
        guard let relations, !relations.isEmpty, let target = Self.resolve(reference, of: url),
            let context = anchor.map({ Self.resolve($0, of: url) }) ?? url
        else { return nil }
        self.init(
            target: target,
            relations: relations.map { String($0) },
            context: context,
            attributes: Self.attributes(parameters)
        )
    }

    private static func resolve(_ reference: String, of url: URL) -> URL? {
        let reference = reference.withoutBlanks
        // Foundation makes no URL from an empty text, which refers to the base URL without its fragment.
        guard !reference.isEmpty else { return URL(string: url.absoluteString.prefix { $0 != "#" }.description) }
        return URLReference.target(of: reference, from: url)
    }

    private static func attributes(_ parameters: [Attribute]) -> [Attribute] {
        let starred = Set(parameters.map(\.name).filter { $0.hasSuffix("*") })
        var attributes: [Attribute] = []
        var seen: Set<String> = []
        // The form of RFC 8187 is only for text values, which `rel` and `anchor` are not.
        let others = ["rel", "rel*", "anchor", "anchor*"]
        for parameter in parameters where !others.contains(parameter.name) {
            let isFirst = seen.insert(parameter.name).inserted
            if !isFirst, ["media", "title", "title*", "type"].contains(parameter.name) { continue }
            if starred.contains(parameter.name + "*") { continue }
            let isStarred = parameter.name.hasSuffix("*")
            let name = isStarred ? String(parameter.name.dropLast()) : parameter.name
            attributes.append(Attribute(name: name, value: parameter.value))
        }
        return attributes
    }
}

extension String {
    /// The text without spaces and tabs around it.
    fileprivate var withoutBlanks: String { trimmingCharacters(in: CharacterSet(charactersIn: " \t")) }
}
