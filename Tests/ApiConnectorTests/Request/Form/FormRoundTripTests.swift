// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// Random values, written and read back by a parser that shares nothing with the library.
struct FormRoundTripTests {
    static let styles: [(FormEncoding.ArrayStyle, FormEncoding.KeyStyle)] =
        [FormEncoding.ArrayStyle.repeated, .brackets, .indexed, .comma].flatMap { arrays in
            [FormEncoding.KeyStyle.brackets, .dots].map { (arrays, $0) }
        }

    @Test(arguments: styles.indices)
    func decodesEveryWrittenForm(_ index: Int) throws {
        let (arrays, keys) = Self.styles[index]
        let encoding = FormEncoding(arrays: arrays, nestedKeys: keys)
        var sizes = 0
        for seed in 0..<400 {
            var random = SeededGenerator(seed: UInt64(seed))
            let tree = FormTree.random(depth: 4, isRoot: true, using: &random)
            let text = try FormRow(tree, "", as: encoding, "").body
            let isExpected = FormTree.parsed(text, arrays: arrays) == tree.canonical(arrays: arrays)
            #expect(isExpected, "seed \(seed): \(tree) was written \(text)")
            sizes += text.utf8.count
            #expect(text == (try FormRow(tree, "", as: encoding, "").body), "seed \(seed)")
        }
        #expect(sizes > 20_000)
    }
}

struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0xD1B5_4A32_D192_ED03
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
