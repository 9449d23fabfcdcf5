// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The response source of one bridge, found through the class of its sessions.
///
/// The bridge, its configurations and their sessions hold the entry; tasks hold it only while they run. When the last
/// holder releases it, its place in the table is freed too.
final class BridgeEntry: Sendable {
    let responses: AdaptedResponses
    let timeSource: any TimeSource
    let delivery: SessionBridge.BodyDelivery

    /// The header fields of the session's configuration.
    ///
    /// On Linux, Foundation does not pass them to a `URLProtocol` (R7 in the guide "URLSession on Linux").
    let headers: HTTPHeaders

    /// The queue on which the clients of the bridge's sessions are called.
    let turns = SessionTurns()

    private let number: Int

    init(
        responses: AdaptedResponses,
        timeSource: any TimeSource,
        headers: HTTPHeaders,
        delivery: SessionBridge.BodyDelivery
    ) {
        self.responses = responses
        self.timeSource = timeSource
        self.headers = headers
        self.delivery = delivery
        number = BridgeTable.shared.takeNumber()
        BridgeTable.shared.set(self, for: number)
    }

    deinit { remove() }

    func remove() {
        BridgeTable.shared.remove(number)
    }

    /// A configuration whose sessions get their responses from this entry and cannot reach the network.
    func configuration(like other: URLSessionConfiguration) -> URLSessionConfiguration {
        let configuration = other.copy() as? URLSessionConfiguration ?? .ephemeral
        configuration.protocolClasses = [BridgeTable.protocolClass(number)]
        // R7: after a 401, Foundation would send the request again with a stored credential, over the real network.
        configuration.urlCredentialStorage = nil
        configuration.urlCache = nil
        keep(with: configuration)
        return configuration
    }

    /// Stores this entry in a configuration, so that the configuration, its copies and their sessions hold the entry.
    ///
    /// `protocolClasses` takes types, which cannot hold an object. A session reports its end only to its delegate. But
    /// it holds the objects of its configuration until it is released, so one of these objects holds the entry.
    private func keep(with configuration: URLSessionConfiguration) {
        #if canImport(FoundationNetworking)
        // Foundation on Linux keeps this dictionary, but does not read it.
        var proxies = configuration.connectionProxyDictionary ?? [:]
        proxies["ApiConnectorTesting.SessionBridge"] = self
        configuration.connectionProxyDictionary = proxies
        #else
        configuration.urlCache = HoldingCache(self)
        #endif
    }
}

#if !canImport(FoundationNetworking)
/// A cache that stores nothing and holds a bridge's entry.
///
/// Unchecked, like its superclass. The added property never changes.
private final class HoldingCache: URLCache, @unchecked Sendable {
    private let entry: BridgeEntry

    init(_ entry: BridgeEntry) {
        self.entry = entry
        super.init(memoryCapacity: 0, diskCapacity: 0, directory: nil)
    }
}
#endif

/// Maps the protocol class of a session to the entry that answers it.
///
/// The whole process shares one table.
///
/// `protocolClasses` takes types, so each bridge needs its own class. A class is never reused in a process, so a
/// session whose test is over never gets the answers of another test. The table holds its entries weakly.
final class BridgeTable: Sendable {
    static let shared = BridgeTable()

    private struct Place {
        weak var entry: BridgeEntry?
    }

    private struct State {
        var lastNumber = 0
        var places: [ObjectIdentifier: Place] = [:]
    }

    private let state = Locked(State())

    func takeNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    func set(_ entry: BridgeEntry, for number: Int) {
        let key = ObjectIdentifier(Self.protocolClass(number))
        state.withLock { $0.places[key] = Place(entry: entry) }
    }

    func remove(_ number: Int) {
        let key = ObjectIdentifier(Self.protocolClass(number))
        _ = state.withLock { $0.places.removeValue(forKey: key) }
    }

    func entry(of protocolClass: AnyClass) -> BridgeEntry? {
        let key = ObjectIdentifier(protocolClass)
        return state.withLock { $0.places[key]?.entry }
    }

    /// The number of bridges.
    var count: Int { state.withLock { $0.places.count } }

    /// The class of a number: its binary digits as nested generic types.
    static func protocolClass(_ number: Int) -> AnyClass {
        func bridge<Slot: BridgeSlot>(_: Slot.Type) -> AnyClass { Bridge<Slot>.self }
        return bridge(slot(number))
    }

    private static func slot(_ number: Int) -> any BridgeSlot.Type {
        func even<Slot: BridgeSlot>(_: Slot.Type) -> any BridgeSlot.Type { EvenSlot<Slot>.self }
        func odd<Slot: BridgeSlot>(_: Slot.Type) -> any BridgeSlot.Type { OddSlot<Slot>.self }
        guard number > 0 else { return FirstSlot.self }
        let rest = slot(number / 2)
        return number.isMultiple(of: 2) ? even(rest) : odd(rest)
    }
}

/// Distinguishes the classes of bridges.
protocol BridgeSlot {}

enum FirstSlot: BridgeSlot {}

enum EvenSlot<Rest: BridgeSlot>: BridgeSlot {}

enum OddSlot<Rest: BridgeSlot>: BridgeSlot {}
