// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

/// The inputs that `Scripts/fuzz` has found, and its initial inputs.
struct FuzzCorpusTests {
    private static let corpus = URL(filePath: #filePath).appending(path: "../../../Fuzzing/Corpus").standardizedFileURL

    private static func inputs(of target: FuzzTarget) throws -> [URL] {
        try FileManager.default
            .contentsOfDirectory(at: corpus.appending(path: target.rawValue), includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }
    }

    @Test(arguments: FuzzTarget.allCases)
    func everyInputSatisfiesTheParsersInvariants(_ target: FuzzTarget) throws {
        let inputs = try Self.inputs(of: target)
        #expect(!inputs.isEmpty)
        for input in inputs {
            #expect(target.fault(try Data(contentsOf: input)) == nil, "\(input.lastPathComponent)")
        }
    }

    @Test(arguments: FuzzTarget.allCases)
    func randomBytesSatisfyTheInvariants(_ target: FuzzTarget) {
        var random = SplitMix64.printed()
        let alphabet = Array("[]{}\",:\\ \n\r\t\u{1E}1ae.é<>;=*%'rel=next data:".utf8) + [0, 0xFF, 0xEF, 0xBB, 0xBF]
        for _ in 0..<SplitMix64.caseCount / 20 {
            let count = Int.random(in: 0...60, using: &random)
            let bytes = (0..<count).map { _ in alphabet.randomElement(using: &random) ?? 0 }
            guard let fault = target.fault(Data([UInt8.random(in: 0...255, using: &random)] + bytes)) else { continue }
            Issue.record("\(bytes): \(fault)")
            return
        }
    }
}
