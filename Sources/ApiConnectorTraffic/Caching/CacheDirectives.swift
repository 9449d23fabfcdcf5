// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The directives of `Cache-Control` fields (RFC 9111, section 5.2), of a request or a response.
///
/// An invalid directive never makes the cache store or serve more. An invalid number counts as garbled, and so do
/// several different numbers. A malformed element that contains the name of a restrictive directive, such as
/// `no-store`, counts as that directive.
struct CacheDirectives: Sendable {
    private enum Argument: Hashable {
        case none, seconds(Int64), other
    }

    private var arguments: [String: Set<Argument>] = [:]

    init(_ headers: HTTPHeaders) {
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

    private mutating func add(_ element: String) {
        let parts = element.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0].trimmingCharacters(in: .whitespaces).lowercased()
        let value = parts.count == 2 ? parts[1].trimmingCharacters(in: .whitespaces) : nil
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
