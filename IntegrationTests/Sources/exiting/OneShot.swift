// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation

/// A program that makes one call over TLS, and exits while the provider may still be closing its connection.
struct OneShot {
    enum Ending: CaseIterable {
        case returnFromMain, exitOnMain, exitOnPool, exitOnThread
    }

    let ending: Ending
    let releasesProvider: Bool
    let httpVersion: CurlConfiguration.HTTPVersion
    /// The time between the response and the exit in nanoseconds; at most a millisecond.
    let delay: Int

    /// - Parameter number: The program's number in the run. It determines how the program ends, whether it releases its
    ///   provider, and the version of HTTP.
    init(number: Int) {
        ending = Ending.allCases[number % 4]
        releasesProvider = number / 4 % 4 != 0
        httpVersion = number / 16 % 2 == 0 ? .http1 : .automatic
        delay = Int.random(in: 0..<1_000_000)
    }

    /// The last line of the program's output, which stays in stdio's buffer until the exit.
    static let lastLine = "the call has ended"

    func run(_ url: URL, trusting authority: URL) {
        let (hasEnded, program) = (DispatchSemaphore(value: 0), self)
        Task.detached {
            var configuration = CurlConfiguration()
            configuration.certificateAuthorityFile = authority
            configuration.httpVersion = program.httpVersion
            var provider: CurlProvider? = CurlProvider(configuration: configuration)
            do {
                let status = try await provider?.response(for: ApiRequest(url: url)).status
                print("status \(status?.rawValue ?? 0)")
            } catch {
                print("failed: \(error)")
            }
            print(Self.lastLine)
            if program.releasesProvider { provider = nil }
            program.wait()
            switch program.ending {
            case .returnFromMain, .exitOnMain: hasEnded.signal()
            case .exitOnPool: exit(0)
            case .exitOnThread: Thread { exit(0) }.start()
            }
            // This loop keeps other code from ending the program.
            while true { withExtendedLifetime(provider) { _ = sleep(60) } }
        }
        hasEnded.wait()
    }

    /// Waits for the delay in a busy loop, because a sleep takes longer than most delays.
    private func wait() {
        let end = ContinuousClock.now + .nanoseconds(delay)
        while ContinuousClock.now < end {}
    }
}

extension OneShot: CustomStringConvertible {
    var description: String {
        "\(ending), provider \(releasesProvider ? "released" : "alive"), \(httpVersion), \(delay) ns"
    }
}
#endif
