// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// All combinations of two lists in release; in debug, a part that contains each element of both lists.
///
/// For independent lists whose combinations take a test many seconds.
package func combinations<First, Second>(_ first: [First], _ second: [Second]) -> [(First, Second)] {
    #if DEBUG
    if first.isEmpty || second.isEmpty { return [] }
    return (0..<max(first.count, second.count)).map { (first[$0 % first.count], second[$0 % second.count]) }
    #else
    return first.flatMap { one in second.map { (one, $0) } }
    #endif
}
