// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The names in use in one scope.
///
/// A second name with the same text gets a number.
struct NameSet: ExpressibleByArrayLiteral {
    private let outer: Set<String>
    private var taken: Set<String> = []
    /// The number to try next, so that many equal names take linear time.
    private var next: [String: Int] = [:]
    private let ignoresCase: Bool

    /// Makes a set of names.
    ///
    /// - Parameters:
    ///   - outer: Names that are in use everywhere. This set is shared, not copied.
    ///   - ignoresCase: Whether names that differ only in case are the same, as the names of files are on some systems.
    init(besides outer: Set<String> = [], ignoringCase ignoresCase: Bool = false) {
        self.outer = outer
        self.ignoresCase = ignoresCase
    }

    init(arrayLiteral names: String...) {
        outer = []
        ignoresCase = false
        taken = Set(names)
    }

    func contains(_ name: String) -> Bool {
        let key = key(name)
        return taken.contains(key) || outer.contains(key)
    }

    /// Takes a name.
    ///
    /// - Returns: Whether the name was free.
    @discardableResult
    mutating func insert(_ name: String) -> Bool {
        let key = key(name)
        return !outer.contains(key) && taken.insert(key).inserted
    }

    /// The name, with a number if it is in use.
    mutating func unique(_ name: String) -> String {
        if insert(name) { return name }
        let key = key(name)
        var number = next[key, default: 2]
        while !insert("\(name)\(number)") { number += 1 }
        next[key] = number + 1
        return "\(name)\(number)"
    }

    /// All names.
    var all: Set<String> { taken.union(outer) }

    private func key(_ name: String) -> String { ignoresCase ? name.lowercased() : name }
}
