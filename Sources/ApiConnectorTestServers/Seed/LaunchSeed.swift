// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
public import ApiConnectorTesting

/// Passes a script to a program that a test launches, and reports the program's requests to the test.
///
/// ```swift
/// // In the test:
/// let seed = try LaunchSeed(script)
/// app.launchArguments += seed.arguments
/// app.launchEnvironment.merge(seed.environment) { $1 }
/// app.launch()
///
/// // In the program:
/// let provider = try LaunchSeed.provider(or: SystemProvider())
/// ```
///
/// The seed is in the program's environment, and the program answers its own requests from the seed. Over a connection
/// on 127.0.0.1, the program reports each request to the test. So the test's script works as usual, with
/// ``/ApiConnectorTesting/Script/requests``, ``/ApiConnectorTesting/Script/nextRequest(within:)``, issues, and
/// ``/ApiConnectorTesting/HeldAnswer/release(_:)``. After the script has ended, the program's requests fail.
///
/// The program waits until the test acknowledges each report. The wait has no timeout, because a person may have
/// stopped the test in a debugger. It ends when the test ends.
///
/// The seed lives as long as the script. A program that is launched again continues with the next answers.
public final class LaunchSeed: Sendable {
    /// The launch argument that selects the seed: `--seeded`.
    public static let argument = "--seeded"

    /// The environment variable that holds the seed, or the name of its file: `APICONNECTOR_SEED`.
    public static let variable = "APICONNECTOR_SEED"

    /// The launch arguments for the program: ``argument``.
    public let arguments = [LaunchSeed.argument]

    /// The variable to add to the program's environment.
    public let environment: [String: String]

    private let file: URL?
    private let server: LoopbackServer

    /// Makes a seed of a script's declarations.
    ///
    /// Declare all answers first: a later declaration is an issue.
    ///
    /// - Parameters:
    ///   - script: The script, made for the environment that the program uses.
    ///   - folder: The folder for the seed's file; the temporary folder by default. Only a seed of more than 96 KiB
    ///     needs a file, because it does not fit into the environment. The program must be able to read the file. It is
    ///     removed when the script is released.
    /// - Throws: ``UnsupportedScriptError`` for a script with answers or matchers that cannot be sent to another
    ///   process; ``/ApiConnectorTesting/FixtureError`` if the file cannot be written.
    public init<Router>(
        _ script: Script<Router>,
        storingIn folder: URL = FileManager.default.temporaryDirectory
    ) throws {
        let engine = script.engine
        try AdapterLimits.seed.attach(to: engine)
        let key = UUID().uuidString
        let channel = SeedChannel(engine, key: key)
        server = try LoopbackServer { try channel.serve($0) }
        let document = try JSONEncoder().encode(SeedDocument(engine, port: server.port, key: key))
        let file = folder.appending(path: "ApiConnector-seed-\(key).json")
        let (text, isInFile) = try SeedText.text(of: document, orIn: file)
        self.file = isInFile ? file : nil
        environment = [Self.variable: text]
        engine.keep(self)
    }

    deinit {
        if let file { try? FileManager.default.removeItem(at: file) }
    }
}

extension LaunchSeed {
    /// Returns the provider for a program: the seed's if the program was launched with a seed, otherwise its own.
    ///
    /// - Parameters:
    ///   - provider: The program's own provider.
    ///   - arguments: The program's launch arguments; the process's by default.
    ///   - environment: The program's environment; the process's by default.
    /// - Throws: ``/ApiConnectorTesting/FixtureError`` if the seed is selected but missing or unreadable, if it is
    ///   present but not selected, or if its test has ended. Do not continue after an error, because the program would
    ///   send its requests to a real server.
    public static func provider<Provider: DataRequestType>(
        or provider: @autoclosure () -> Provider,
        arguments: [String] = ProcessInfo.processInfo.arguments,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(FixtureError) -> AnyProvider {
        let isSelected = arguments.contains(argument)
        guard let text = environment[variable] else {
            guard isSelected else { return AnyProvider(provider()) }
            throw FixtureError(seed: "the launch arguments have \(argument), but the environment has no \(variable)")
        }
        guard isSelected else {
            throw FixtureError(
                seed: "the environment has \(variable), but the launch arguments lack \(argument); "
                    + "launch with the seed's arguments, "
                    + "or without its environment"
            )
        }
        let document: SeedDocument
        do {
            document = try JSONDecoder().decode(SeedDocument.self, from: try SeedText.document(in: text))
        } catch let error as FixtureError {
            throw error
        } catch {
            throw FixtureError(seed: "its document does not decode: \(error)")
        }
        return AnyProvider(TestConnector(try SeededResponses(document)))
    }
}
