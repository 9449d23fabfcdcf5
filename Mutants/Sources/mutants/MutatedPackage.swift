// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import MutantMaking

/// A copy of the package whose sources contain mutants.
struct MutatedPackage {
    /// The package itself.
    let original: URL
    /// The folder of the copy.
    let copy: URL

    /// The folder of ApiConnectorTraffic's mutants; ApiConnector's mutants have no such folder.
    private static let trafficPrefix = "Traffic/"

    /// The path below `Sources` of a file or folder of mutants: ApiConnectorTraffic/Caching for Traffic/Caching.
    private static func path(of file: String) -> String {
        "\(file)/".hasPrefix(trafficPrefix)
            ? "ApiConnectorTraffic/\(file.dropFirst(trafficPrefix.count))" : "ApiConnector/\(file)"
    }

    /// The mutants' name of a file below `Sources`; nil for a file of another module.
    private static func file(at path: Substring) -> String? {
        if path.hasPrefix("ApiConnector/") { return String(path.dropFirst("ApiConnector/".count)) }
        guard path.hasPrefix("ApiConnectorTraffic/") else { return nil }
        return trafficPrefix + path.dropFirst("ApiConnectorTraffic/".count)
    }

    /// All mutants of a folder of the sources.
    func candidates(in subfolder: String) throws -> [Mutant] {
        let root = original.appending(path: "Sources").appending(path: Self.path(of: subfolder))
        let paths = try files(below: root).filter { $0.hasSuffix(".swift") }
        guard !paths.isEmpty else { throw MutantError("there are no sources in \(root.path)") }
        return try paths.flatMap { path in
            let source = try String(contentsOf: root.appending(path: path), encoding: .utf8)
            return Mutant.all(in: source, of: "\(subfolder)/\(path)")
        }
    }

    /// Writes a sample of mutants that compile, and builds the tests.
    ///
    /// - Parameters:
    ///   - candidates: All mutants.
    ///   - makeSample: Takes a sample.
    ///   - onError: Receives the mutants that do not compile; other candidates replace them.
    func build(
        _ candidates: [Mutant],
        _ makeSample: ([Mutant]) -> MutantSample,
        onError: ([Mutant]) throws -> Void
    ) throws -> MutantSample {
        var candidates = candidates
        var sample = makeSample(candidates)
        while true {
            try writeSources(with: sample)
            let build = try Command(
                ["swift", "build", "--ignore-lock", "--target", "ApiConnectorTraffic"]
                    + ["-Xswiftc", "-continue-building-after-errors"],
                in: copy
            ).run()
            if build.status == 0 { break }
            let places = Set(build.output.split(separator: "\n").compactMap { place(ofErrorIn: $0) })
            var removed: [Mutant] = []
            for place in places.sorted(by: { ($0.file, $0.line) < ($1.file, $1.line) }) {
                // A mutant that was removed because of an earlier line may also cause this error.
                if removed.contains(where: { $0.file == place.file && ($0.line...$0.lastLine).contains(place.line) }) {
                    continue
                }
                removed += sample.removeMutants(atError: place.line, in: place.file)
            }
            guard !removed.isEmpty else {
                throw MutantError("the build fails, but not because of a mutant:\n\(build.output.suffix(4000))")
            }
            print("\(removed.count) mutants do not compile; others replace them")
            try onError(removed)
            let uncompiled = Set(removed)
            candidates.removeAll { uncompiled.contains($0) }
            sample = makeSample(candidates)
        }
        let build = try Command(
            ["swift", "build", "--build-tests", "--ignore-lock", "-Xswiftc", "-continue-building-after-errors"],
            in: copy
        ).run()
        guard build.status == 0 else { throw MutantError("the tests do not build:\n\(build.output.suffix(4000))") }
        return sample
    }

    /// Writes the package's sources with the mutants to the copy.
    ///
    /// Does not touch unchanged files, so that they are not compiled again.
    private func writeSources(with sample: MutantSample) throws {
        let (from, to) = (original.appending(path: "Sources"), copy.appending(path: "Sources"))
        var paths = Set(try files(below: from))
        let mutated = Set(sample.mutants.map(\.mutant.file))
        for path in paths.sorted() {
            var data = try Data(contentsOf: from.appending(path: path))
            if let file = Self.file(at: path[...]), mutated.contains(file) {
                data = Data(sample.mutated(String(decoding: data, as: UTF8.self), of: file).utf8)
            }
            try write(data, to: to.appending(path: path))
        }
        for module in ["ApiConnector", "ApiConnectorTraffic"] {
            try write(Data(MutantSample.switchSource.utf8), to: to.appending(path: "\(module)/Mutants.swift"))
            paths.insert("\(module)/Mutants.swift")
        }
        for path in try files(below: to) where !paths.contains(path) {
            try FileManager.default.removeItem(at: to.appending(path: path))
        }
    }

    private func write(_ data: Data, to file: URL) throws {
        if let present = try? Data(contentsOf: file), present == data { return }
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }

    private func files(below folder: URL) throws -> [String] {
        let all = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return all.sorted().filter { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: folder.appending(path: path).path, isDirectory: &isFolder)
                && !isFolder.boolValue
        }
    }

    private struct Place: Hashable {
        let file: String
        let line: Int
    }

    /// The place of a compiler error in the mutants' sources.
    private func place(ofErrorIn line: Substring) -> Place? {
        guard let match = line.firstMatch(of: #/Sources/([^:]+):([0-9]+):[0-9]+: error: /#),
            let file = Self.file(at: match.1), let number = Int(match.2)
        else { return nil }
        return Place(file: file, line: number)
    }
}
