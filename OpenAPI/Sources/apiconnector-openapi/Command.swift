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
        abstract: "Generates routers, calls and models for ApiConnector from an OpenAPI document.",
        subcommands: [Generate.self, List.self, Diff.self, Convert.self]
    )
}

/// The limits for a document.
struct LimitOptions: ParsableArguments {
    @Option(help: "The largest file to read, in bytes.")
    var maximumBytes = DocumentLimits().byteCount

    @Option(help: "The largest number of values in all files of the document.")
    var maximumValues = DocumentLimits().valueCount

    fileprivate var values: DocumentLimits {
        var limits = DocumentLimits()
        limits.byteCount = maximumBytes
        limits.valueCount = maximumValues
        return limits
    }
}

/// The options that several subcommands share.
struct DocumentOptions: ParsableArguments {
    @Argument(help: "The OpenAPI document (3.0, 3.1 or 3.2) as JSON or YAML.")
    var document: String

    @Option(help: "A configuration file in JSON or YAML.")
    var config: String?

    @Option(help: "The API's name in the names of types; by default the document's title.")
    var name: String?

    @Option(
        help: ArgumentHelp(
            "The access level of the generated code: internal, package or public.",
            discussion: "By default, it is the configuration's, or internal.",
            valueName: "level"
        ),
        transform: { text in
            guard let access = OpenAPIGeneration.Configuration.Access(rawValue: text) else {
                throw ValidationError("the access level must be internal, package or public")
            }
            return access
        }
    )
    var access: OpenAPIGeneration.Configuration.Access?

    // Each option takes one value: an option that takes several would also take the document after it.
    @Option(help: ArgumentHelp("Generates only operations with this tag; can be repeated.", valueName: "tag"))
    var tags: [String] = []

    @Option(
        help: ArgumentHelp("Generates only operations whose path starts like this; can be repeated.", valueName: "path")
    )
    var paths: [String] = []

    @Option(
        help: ArgumentHelp("Generates only this operation, by operationId; can be repeated.", valueName: "operation")
    )
    var operations: [String] = []

    @OptionGroup var limits: LimitOptions

    @Flag(inversion: .prefixedNo, help: "Prints progress to standard error; by default only to a terminal.")
    var progress: Bool?

    /// Runs a function, and then removes its progress from the terminal.
    fileprivate func showingProgress<Value>(_ body: () throws -> Value) rethrows -> Value {
        defer { if progress ?? isTerminal, isTerminal { FileHandle.standardError.write(Data(Stage.clearing.utf8)) } }
        return try body()
    }

    fileprivate func generator() throws -> Generator {
        try generator(of: document)
    }

    fileprivate func generator(of document: String, ignoringUnknownNames ignores: Bool = false) throws -> Generator {
        var configuration = OpenAPIGeneration.Configuration()
        if let config { configuration = try OpenAPIGeneration.Configuration(contentsOf: URL(filePath: config)) }
        if let name { configuration.name = name }
        if let access { configuration.access = access }
        configuration.tags.formUnion(tags)
        configuration.paths += paths
        configuration.operations.formUnion(operations)
        configuration.ignoresUnknownNames = ignores
        let showsProgress = progress ?? isTerminal
        let file = URL(filePath: document)
        return try Generator(contentsOf: file, configuration: configuration, limits: limits.values) {
            if showsProgress { FileHandle.standardError.write(Data($0.text(isTerminal: isTerminal).utf8)) }
        }
    }
}

struct Generate: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Writes Swift files.")

    @OptionGroup var options: DocumentOptions

    @Option(help: "The folder for the files; replaces the files that an earlier run generated there.")
    var output: String

    @Flag(help: "Writes nothing; fails if the folder is not up to date.")
    var check = false

    @Flag(help: "Fails if there is a warning.")
    var strict = false

    @Flag(help: ArgumentHelp("Adds code that calls each function.", visibility: .hidden))
    var callers = false

    func run() throws {
        let (result, files) = try options.showingProgress {
            let generator = try options.generator()
            let result = try generator.generate()
            return (result, result.files + (callers ? try generator.callers() : []))
        }
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
        let result = try options.showingProgress { try options.generator().generate() }
        for operation in result.operations { print(operation) }
        for warning in result.warnings { print("warning: \(warning)") }
    }
}

struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compares two documents: prints the changes that callers see, breaking changes first.",
        discussion: "Exits with status 1 if a change breaks callers, and with 2 if the documents cannot be compared."
    )

    @OptionGroup var options: DocumentOptions

    @Argument(help: "The newer document.")
    var newer: String

    func run() throws {
        let changes: [Interface.Change]
        do {
            changes = try options.showingProgress {
                let old = try options.generator().interface()
                // The newer document may no longer have a selected operation or a named model.
                return try old.changes(to: options.generator(of: newer, ignoringUnknownNames: true).interface())
            }
        } catch {
            note("Error: \(error)")
            throw ExitCode(2)
        }
        for change in changes { print(change) }
        if changes.contains(where: \.isBreaking) { throw ExitCode(1) }
    }
}

struct Convert: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Converts a JSON or YAML document of one or several files to one JSON file.",
        discussion: "Contract(openAPI:) and FakeBackend(openAPI:) of ApiConnectorContracts read the file."
    )

    @Argument(help: "The OpenAPI document (3.0, 3.1 or 3.2) as JSON or YAML.")
    var document: String

    @Option(help: "The file to write; replaces an existing file.")
    var output: String

    @Flag(help: "Writes nothing; fails if the file is not up to date.")
    var check = false

    @OptionGroup var limits: LimitOptions

    func run() throws {
        let json = try DocumentBundle(contentsOf: URL(filePath: document), limits: limits.values).json()
        let file = OutputFile(URL(filePath: output))
        if !check {
            try file.write(Data(json.utf8))
        } else if !file.contains(Data(json.utf8)) {
            note("error: \(URL(filePath: output).lastPathComponent) is not up to date")
            throw ExitCode.failure
        }
    }
}

private let isTerminal = isatty(FileHandle.standardError.fileDescriptor) == 1

/// Writes to standard error.
func note(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
}
