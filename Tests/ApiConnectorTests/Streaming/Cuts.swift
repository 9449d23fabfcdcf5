// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation

/// The ways in which a fixture arrives.
enum Cuts {
    /// Whole, cut once at every byte, in chunks of several sizes, and so with empty chunks in between.
    static func of(_ fixture: Data) -> [[Data]] {
        let whole = [[fixture]]
        let once = fixture.count < 600 ? (0...fixture.count).map { [fixture.prefix($0), fixture.dropFirst($0)] } : []
        let even = [1, 2, 3, 5, 64, 4096].map { chunks(of: fixture, $0) }
        let holes = even.map { $0.flatMap { [Data(), $0, Data()] } }
        return whole + once + even + holes
    }

    static func chunks(of fixture: Data, _ byteCount: Int) -> [Data] {
        stride(from: 0, to: fixture.count, by: byteCount).map { start in
            // Slices as they are, and each in memory of its own.
            let slice = fixture.dropFirst(start).prefix(byteCount)
            return byteCount == 2 ? Data(Array(slice)) : slice
        }
    }
}
