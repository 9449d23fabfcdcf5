// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation
import MisbehavingServer
import Support

/// Calls whose name look-up hangs while the gate is closed.
struct Resolving {
    let gate: ResolverGate
    let server: MisbehavingServer
    let url: URL

    /// The number of calls for each way to end a call.
    ///
    /// The median of their times is checked.
    private let repetitions = 15
    private let limit = Duration.milliseconds(50)

    func problems() async throws -> [String] {
        let before = try await usedProvider { _ in }
        var problems: [String] = []
        _ = try await usedProvider { provider in
            problems += await callsThatAreLeft(provider)
            problems += await neighbors(of: provider)
            problems += await longestPhase(of: provider)
        }
        problems += await teardown()
        // From here on no look-up hangs, and all resources must be released.
        gate.open()
        let tolerance = Footprint.Tolerance(memoryByteCount: 16 << 20, descriptorCount: 0)
        let (_, excess) = try await Footprint.settled(near: before, tolerance)
        return problems + excess.map { "\($0), although no name look-up is left" }
    }

    /// The footprint of the process with one provider in use.
    private func usedProvider(_ use: (CurlProvider) async throws -> Void) async throws -> Footprint {
        let provider = CurlProvider(configuration: CurlConfiguration())
        _ = try await provider.response(for: ApiRequest(url: server.url(.short)))
        try await use(provider)
        return try Footprint()
    }

    // MARK: A call that waits for its name

    private func callsThatAreLeft(_ provider: CurlProvider) async -> [String] {
        let wait = Duration.milliseconds(50)
        let ways: [(Timeouts?, ApiConnectorError.Kind)] = [
            (nil, .cancelled), (Timeouts(attempt: wait, stall: Timeouts.noLimit), .timedOut),
            (Timeouts(stall: wait), .stalled),
            (Timeouts(stall: Timeouts.noLimit, overall: wait), .deadlineExceeded),
        ]
        var problems: [String] = []
        for (timeouts, kind) in ways {
            var delays: [Duration] = []
            for _ in 0..<repetitions {
                let (delay, problem) = await leave(provider, timeouts, kind)
                if let problem { return problems + [problem] }
                delays.append(delay - (timeouts == nil ? .zero : wait))
            }
            let median = delays.sorted()[delays.count / 2]
            print("\(kind): answered with a median delay of \(median), \(delays.max() ?? .zero) at most")
            if median > limit { problems.append("\(kind) was answered with a median delay of \(median)") }
        }
        return problems
    }

    /// Starts a call whose name look-up hangs, and ends it by a cancel or a timeout.
    ///
    /// Returns the time until the call has ended.
    private func leave(
        _ provider: CurlProvider,
        _ timeouts: Timeouts?,
        _ kind: ApiConnectorError.Kind
    ) async -> (Duration, problem: String?) {
        let connection = NetworkConnector(environment: .loopback, provider: provider, router: AnyRoute.self)
        let options = CallOptions(timeouts: timeouts ?? .unlimited)
        var start = ContinuousClock.now
        let call = Task { [url] in try await connection.data(at: url, options: options) }
        guard gate.nextArrival() else { return (.zero, "no call looked up the name; is the library preloaded?") }
        if timeouts == nil {
            start = .now
            call.cancel()
        }
        let result = await call.result
        let delay = ContinuousClock.now - start
        guard case .failure(let error as ApiConnectorError) = result, error.kind == kind else {
            return (delay, "the call should end as \(kind), but the result is \(result)")
        }
        return (delay, nil)
    }

    // MARK: Others

    /// Makes calls to an address and to a known name while another look-up hangs.
    private func neighbors(of provider: CurlProvider) async -> [String] {
        let hanging = Task { [url] in try await provider.response(for: ApiRequest(url: url)) }
        guard gate.nextArrival() else { return ["no call looked up the name"] }
        var problems: [String] = []
        let address = server.url(.short)
        let name = URL(string: address.absoluteString.replacingOccurrences(of: "127.0.0.1", with: "localhost"))
        for url in [address, name ?? address] {
            var delays: [Duration] = []
            for _ in 0..<100 {
                let start = ContinuousClock.now
                do {
                    _ = try await provider.response(for: ApiRequest(url: url))
                } catch {
                    problems.append("a call failed while another call waits for its name: \(error)")
                }
                delays.append(ContinuousClock.now - start)
            }
            let median = delays.sorted()[delays.count / 2]
            print("\(url.host() ?? ""): answered within \(median) (median) while a name look-up hangs")
            if median > limit { problems.append("\(url.host() ?? "") took \(median) while a name look-up hangs") }
        }
        hanging.cancel()
        _ = await hanging.result
        return problems
    }

    /// Cancels a call whose name look-up has hung for more than a second, and for longer than everything before it.
    private func longestPhase(of provider: CurlProvider) async -> [String] {
        let start = ContinuousClock.now
        let call = Task { [url] in try await provider.response(for: ApiRequest(url: url)) }
        guard gate.nextArrival() else { return ["no call looked up the name"] }
        try? await Task.sleep(for: max(.milliseconds(1_100), (ContinuousClock.now - start) * 2))
        call.cancel()
        guard case .failure(let error) = await call.result else { return ["a call without an address got a response"] }
        print(error)
        return "\(error)".contains("The name lookup took ") ? [] : ["the error does not name the look-up: \(error)"]
    }

    /// Releases a provider while one of its calls waits for a name.
    private func teardown() async -> [String] {
        var provider: CurlProvider? = CurlProvider(configuration: CurlConfiguration())
        let call = Task { [url, provider] in try await provider?.response(for: ApiRequest(url: url)) }
        provider = nil
        guard gate.nextArrival() else { return ["no call looked up the name"] }
        call.cancel()
        if case .success = await call.result { return ["a call without an address got a response"] }
        // The provider's thread must end, although the resolver's thread does not.
        for _ in 0..<100 {
            if Footprint.threadCount(named: "CurlProvider") == 0 { return [] }
            try? await Task.sleep(for: .milliseconds(50))
        }
        return ["the provider's thread still runs five seconds after the provider's release"]
    }
}
#endif
