// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import MutantMaking

/// A copy of the package whose sources hold mutants.
struct MutatedPackage {
    let folder: URL

    private var sources: URL { folder.appending(path: "Sources/ApiConnector") }

    /// All mutants of a folder of the sources.
    func candidates(in subfolder: String) throws -> [Mutant] {
        let root = sources.appending(path: subfolder)
        guard let files = FileManager.default.enumerator(atPath: root.path) else {
            throw Failure("there is no folder Sources/ApiConnector/\(subfolder)")
        }
        return try files.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted().flatMap { path in
            let source = try String(contentsOf: root.appending(path: path), encoding: .utf8)
            return Mutant.all(in: source, of: "\(subfolder)/\(path)")
        }
    }

    /// Writes the mutants and builds the tests; mutants that do not compile leave the sample.
    func build(_ sample: inout MutantSample) throws {
        let files = Set(sample.mutants.map(\.file))
        let originals = try files.reduce(into: [:]) { originals, file in
            originals[file] = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
        }
        try MutantSample.switchSource.write(
            to: sources.appending(path: "Mutants.swift"),
            atomically: true,
            encoding: .utf8
        )
        while true {
            for (file, source) in originals {
                try write(sample.mutated(source, of: file), to: sources.appending(path: file))
            }
            let build = try Command("swift", "build", "--build-tests", "--ignore-lock", in: folder).run()
            if build.isSuccess { return print("\(sample.mutants.count) mutants compile") }
            let errors = Set(build.output.split(separator: "\n").compactMap { error(in: $0) })
            let removed = errors.map { sample.removeMutants(atError: $0.line, in: $0.file) }.reduce(0, +)
            print("\(removed) mutants do not compile and leave the sample")
            guard removed > 0 else {
                throw Failure("the build fails, but not by a mutant:\n\(build.output.suffix(4000))")
            }
        }
    }

    /// The place of a compiler's error in the sources of the mutants.
    private func error(in line: Substring) -> Place? {
        guard let match = line.firstMatch(of: #/Sources/ApiConnector/([^:]+):([0-9]+):[0-9]+: error: /#),
            let number = Int(match.2)
        else { return nil }
        return Place(file: String(match.1), line: number)
    }

    private struct Place: Hashable {
        let file: String
        let line: Int
    }

    private func write(_ text: String, to file: URL) throws {
        guard try String(contentsOf: file, encoding: .utf8) != text else { return }
        try text.write(to: file, atomically: true, encoding: .utf8)
    }
}

/// An error that ends the command.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
