// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A script for a program that a test launches: it travels in the program's environment, and
/// tells the test each request.
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
/// The program answers itself from the seed. Over a connection of 127.0.0.1 it tells the test each request, so that the
/// script in the test spies and judges as ever: ``Script/requests``, ``Script/nextRequest(within:)``, its issues, and
/// ``HeldAnswer/release(_:)`` of what the program waits for. When the script has ended, the program is answered
/// nothing.
///
/// The program waits for the test's acknowledgement of what it tells for as long as the test's process is there: a
/// person may hold that in a debugger. When the test has ended, so has the wait.
///
/// It lives as long as the script. A program that is launched a second time goes on where the first one was.
public final class LaunchSeed: Sendable {
    /// The launch argument that selects the seed: `--seeded`.
    public static let argument = "--seeded"

    /// The environment entry that holds it, or the name of its file: `APICONNECTOR_SEED`.
    public static let variable = "APICONNECTOR_SEED"

    /// What to launch the program with: ``argument``.
    public let arguments = [LaunchSeed.argument]

    /// What to add to the program's environment: one entry.
    public let environment: [String: String]

    private let file: URL?
    private let server: LoopbackServer

    /// Makes a seed of everything that a script declares; what is declared later is an issue.
    ///
    /// - Parameters:
    ///   - script: The script, in the environment that the program talks to.
    ///   - folder: Where a seed goes that is longer than an environment entry may be, 96 KiB, in a file that is removed
    ///     with the script; the temporary folder by default. The program has to be able to read it.
    /// - Throws: ``UnsupportedScriptError`` for a script with answers or matchers that cannot be written down;
    ///   ``LaunchSeedError`` where the file cannot be written.
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
    /// The provider that a program starts with: the seed's, where it was launched with one, and else its own.
    ///
    /// - Parameters:
    ///   - provider: The program's own.
    ///   - arguments: What the program was launched with; the process's by default.
    ///   - environment: The program's environment; the process's by default.
    /// - Throws: ``LaunchSeedError`` for a seed that is selected and is not there or cannot be read, that is there and
    ///   is not selected, or whose test is gone. Do not go on then: the program would talk to a real server.
    public static func provider<Provider: DataRequestType>(
        or provider: @autoclosure () -> Provider,
        arguments: [String] = ProcessInfo.processInfo.arguments,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(LaunchSeedError) -> AnyProvider {
        let isSelected = arguments.contains(argument)
        guard let text = environment[variable] else {
            guard isSelected else { return AnyProvider(provider()) }
            throw LaunchSeedError("the launch arguments have \(argument), but the environment has no \(variable)")
        }
        guard isSelected else {
            throw LaunchSeedError(
                "the environment has \(variable), but the launch arguments lack \(argument); "
                    + "launch with the seed's arguments, "
                    + "or without its environment"
            )
        }
        let document: SeedDocument
        do {
            document = try JSONDecoder().decode(SeedDocument.self, from: try SeedText.document(in: text))
        } catch let error as LaunchSeedError {
            throw error
        } catch {
            throw LaunchSeedError("its document does not decode: \(error)")
        }
        return AnyProvider(TestConnector(try SeededResponses(document)))
    }
}
