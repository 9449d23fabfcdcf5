// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

internal import ArgumentParser
internal import Foundation
internal import OpenAPIGeneration

@main
struct Command: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apiconnector-openapi",
        abstract: "Makes routers, calls and models for ApiConnector of an OpenAPI document.",
        subcommands: [Generate.self, List.self, Diff.self, Convert.self]
    )
}

/// What several subcommands take.
struct DocumentOptions: ParsableArguments {
    @Argument(help: "The document: OpenAPI 3.0, 3.1 or 3.2, JSON or YAML.")
    var document: String

    @Option(help: "A configuration file of JSON or YAML.")
    var config: String?

    @Option(help: "The API's name in the names of types; from the document's title by default.")
    var name: String?

    @Option(parsing: .upToNextOption, help: "The tags to generate.")
    var tags: [String] = []

    @Option(parsing: .upToNextOption, help: "The beginnings of the paths to generate.")
    var paths: [String] = []

    @Option(parsing: .upToNextOption, help: "The ids of the operations to generate.")
    var operations: [String] = []

    @Option(help: "The largest file to read, in bytes.")
    var maximumBytes = 64 << 20

    fileprivate func generator() throws -> Generator {
        try generator(of: document)
    }

    fileprivate func generator(of document: String) throws -> Generator {
        var configuration = OpenAPIGeneration.Configuration()
        if let config { configuration = try OpenAPIGeneration.Configuration(contentsOf: URL(filePath: config)) }
        if let name { configuration.name = name }
        configuration.tags.formUnion(tags)
        configuration.paths += paths
        configuration.operations.formUnion(operations)
        var limits = DocumentLimits()
        limits.byteCount = maximumBytes
        return try Generator(contentsOf: URL(filePath: document), configuration: configuration, limits: limits)
    }
}

struct Generate: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Writes Swift files.")

    @OptionGroup var options: DocumentOptions

    @Option(help: "The folder to write to; files that an earlier run has generated there are replaced.")
    var output: String

    @Flag(help: "Writes nothing, and fails where the folder is not up to date.")
    var check = false

    @Flag(help: "Fails on a warning.")
    var strict = false

    @Flag(help: ArgumentHelp("Adds code that calls each function.", visibility: .hidden))
    var callers = false

    func run() throws {
        let generator = try options.generator()
        let result = try generator.generate()
        let files = result.files + (callers ? try generator.callers() : [])
        for warning in result.warnings { note("warning: \(warning)") }
        if strict, !result.warnings.isEmpty {
            note("error: \(result.warnings.count) warnings, and --strict was given")
            throw ExitCode.failure
        }
        let folder = OutputFolder(URL(filePath: output))
        if check {
            let differences = folder.differences(from: files)
            for name in differences { note("error: \(name) is not up to date") }
            if !differences.isEmpty { throw ExitCode.failure }
        } else {
            try folder.write(files)
        }
        note("\(result.operationCount) operations, \(files.count) files, \(result.warnings.count) warnings")
    }
}

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the operations, their functions and all warnings."
    )

    @OptionGroup var options: DocumentOptions

    func run() throws {
        let result = try options.generator().generate()
        for operation in result.operations { print(operation) }
        for warning in result.warnings { print("warning: \(warning)") }
    }
}

struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints what a newer document changes for callers, breaking changes first.",
        discussion: "Exits with 1 where a change breaks callers."
    )

    @OptionGroup var options: DocumentOptions

    @Argument(help: "The newer document.")
    var newer: String

    func run() throws {
        let old = try options.generator().interface()
        let changes = try old.changes(to: options.generator(of: newer).interface())
        for change in changes { print(change) }
        if changes.contains(where: \.isBreaking) { throw ExitCode(1) }
    }
}

struct Convert: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes a document of JSON or YAML, of one file or several, as one file of JSON.",
        discussion: "ApiConnectorTesting reads the file: Contract(openAPI:) and FakeBackend(openAPI:)."
    )

    @Argument(help: "The document: OpenAPI 3.0, 3.1 or 3.2, JSON or YAML.")
    var document: String

    @Option(help: "The file to write; an older one is replaced.")
    var output: String

    @Flag(help: "Writes nothing, and fails where the file is not up to date.")
    var check = false

    @Option(help: "The largest file to read, in bytes.")
    var maximumBytes = 64 << 20

    func run() throws {
        var limits = DocumentLimits()
        limits.byteCount = maximumBytes
        let json = try DocumentBundle(contentsOf: URL(filePath: document), limits: limits).json()
        let file = URL(filePath: output)
        if check {
            guard (try? Data(contentsOf: file)) == Data(json.utf8) else {
                note("error: \(file.lastPathComponent) is not up to date")
                throw ExitCode.failure
            }
        } else {
            try Data(json.utf8).write(to: file, options: .atomic)
        }
    }
}

/// Writes to standard error.
func note(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
}
