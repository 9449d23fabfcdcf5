// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

internal import Foundation

/// A path with parts in braces.
struct PathTemplate {
    enum Part {
        case text(String)
        case name(String)
    }

    private(set) var parts: [Part] = []

    /// The items of a query that is part of the path.
    ///
    /// They are not percent-encoded.
    private(set) var query: [(name: String, value: String)] = []

    /// Whether all braces match.
    let isBalanced: Bool

    /// Reads a path without its fragment, which only distinguishes operations of the same path.
    ///
    /// The path is read by scalars, so that a brace with a combining mark is still a brace.
    init(_ path: String) {
        var text = String.UnicodeScalarView()
        var isName = false
        var isBalanced = true
        var parts: [Part] = []
        func add(_ isName: Bool) {
            if isName { parts.append(.name(String(text))) } else if !text.isEmpty { parts.append(.text(String(text))) }
            if isName, text.isEmpty { isBalanced = false }
            text = String.UnicodeScalarView()
        }
        var rest = path.unicodeScalars[...]
        while let scalar = rest.first, isName || (scalar != "?" && scalar != "#") {
            rest.removeFirst()
            switch scalar {
            case "{" where !isName, "}" where isName:
                add(isName)
                isName.toggle()
            case "{", "}": isBalanced = false
            default: text.append(scalar)
            }
        }
        if isName { isBalanced = false }
        add(false)
        self.parts = parts
        self.isBalanced = isBalanced
        guard rest.first == "?" else { return }
        for item in String(rest.dropFirst().prefix { $0 != "#" }).split(separator: "&") {
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.removingPercentEncoding ?? String($0) }
            query.append((pair[0], pair.count > 1 ? pair[1] : ""))
        }
    }

    var names: [String] {
        var names: [String] = []
        var known: Set<String> = []
        for case .name(let name) in parts where known.insert(name).inserted { names.append(name) }
        return names
    }
}
