// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The directives of `Cache-Control` fields (RFC 9111, section 5.2), of a request or a response.
///
/// An invalid directive never makes the cache store or serve more. An invalid number counts as garbled, and so do
/// several different numbers. A malformed element that contains the name of a restrictive directive, such as
/// `no-store`, counts as that directive.
struct CacheDirectives: Sendable, Hashable {
    private enum Argument: Hashable {
        case none, seconds(Int64), other
    }

    private var arguments: [String: Set<Argument>] = [:]

    init(_ headers: HTTPHeaders) {
        // Most requests have neither field.
        guard headers.contains(.cacheControl) || headers.contains("Pragma") else { return }
        for element in headers.elements(.cacheControl) { add(element) }
        // RFC 9111, section 5.4: `Pragma` is the predecessor of `Cache-Control` in requests.
        if arguments.isEmpty, headers.values("Pragma").contains(where: { $0.lowercased().contains("no-cache") }) {
            arguments["no-cache"] = [.none]
        }
    }

    /// Whether a directive is present, with or without an argument.
    func has(_ name: String) -> Bool { arguments[name] != nil }

    /// Whether a directive is present without an argument.
    func isBare(_ name: String) -> Bool { arguments[name] == [.none] }

    /// The number of seconds of a directive; nil if it is missing.
    ///
    /// - Parameter garbled: The result for an invalid number or several different numbers.
    func seconds(_ name: String, garbled: Int64?) -> Int64? {
        guard let values = arguments[name] else { return nil }
        guard values.count == 1, case .seconds(let seconds)? = values.first else { return garbled }
        return seconds
    }

    /// The approximate size in memory.
    var byteCount: Int { arguments.keys.reduce(0) { $0 + $1.utf8.count + 160 } }

    private mutating func add(_ element: String) {
        let equals = element.utf8.firstIndex(of: UInt8(ascii: "="))
        let name = element[..<(equals ?? element.endIndex)].withoutBlanks.lowercased()
        let value = equals.map { Substring(element.utf8[$0...].dropFirst()).withoutBlanks }
        let isWellFormed = name.isToken && value.map(Self.isArgument) != false
        if isWellFormed {
            arguments[name, default: []].insert(Self.argument(value))
            return
        }
        arguments[name, default: []].insert(.other)
        let text = element.lowercased()
        for word in Self.forbidding where text.contains(word) { arguments[word, default: []].insert(.none) }
    }

    private static let forbidding = ["no-cache", "no-store", "must-revalidate", "must-understand"]

    private static func argument(_ value: String?) -> Argument {
        guard let value else { return .none }
        let digits = value.hasPrefix("\"") ? String(value.dropFirst().dropLast()) : value
        return digits.deltaSeconds.map { .seconds($0) } ?? .other
    }

    /// Whether a value is a token or a quoted string.
    private static func isArgument(_ value: String) -> Bool {
        guard value.hasPrefix("\"") else { return value.isToken }
        return value.utf8.count >= 2 && value.hasSuffix("\"") && !value.dropFirst().dropLast().contains("\"")
    }
}

extension Substring {
    /// The text without blanks at its ends.
    ///
    /// Without this shortcut, the trimming took a quarter of a cache hit.
    fileprivate var withoutBlanks: String {
        let mayHaveBlanks = [utf8.first, utf8.last].contains { $0.map { $0 <= 0x20 || $0 >= 0x80 } ?? false }
        return mayHaveBlanks ? trimmingCharacters(in: .whitespaces) : String(self)
    }
}

extension StringProtocol {
    /// Whether the string is a token (RFC 9110, section 5.6.2).
    var isToken: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"): true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// The string as a number of seconds (RFC 9111, section 1.2.2); nil if it has other characters than digits.
    ///
    /// A number that is too large becomes 2^31, as the section requires.
    var deltaSeconds: Int64? {
        guard !isEmpty, utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
        return Swift.min(Int64(self) ?? .max, 1 << 31)
    }
}
