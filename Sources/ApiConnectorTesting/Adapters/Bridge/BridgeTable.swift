// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// What one bridge answers from; its sessions' class leads to it.
///
/// The bridge holds it, and so does each configuration and each session that is made of it; nobody else does for
/// longer than a task takes. With the last of them it goes, and its place in the table with it.
final class BridgeEntry: Sendable {
    let responses: AdaptedResponses
    let timeSource: any TimeSource
    let delivery: SessionBridge.BodyDelivery

    /// R7: on Linux the session's own fields never reach a protocol.
    let headers: HTTPHeaders

    /// Where its sessions' clients are called.
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

    /// A configuration whose sessions are answered from here, and have no other way out.
    func configuration(like other: URLSessionConfiguration) -> URLSessionConfiguration {
        let configuration = other.copy() as? URLSessionConfiguration ?? .ephemeral
        configuration.protocolClasses = [BridgeTable.protocolClass(number)]
        // R7: a 401 would be sent again with a stored credential, over the real network.
        configuration.urlCredentialStorage = nil
        configuration.urlCache = nil
        keep(with: configuration)
        return configuration
    }

    /// Makes a configuration hold this entry, and with it its copies and the sessions that are made of them.
    ///
    /// `protocolClasses` takes types, which hold nothing, and a session tells nobody but its delegate of its end. But
    /// it holds what its configuration holds, and releases that when it goes itself.
    private func keep(with configuration: URLSessionConfiguration) {
        #if canImport(FoundationNetworking)
        // Foundation on Linux keeps the proxies, and reads nothing of them.
        var proxies = configuration.connectionProxyDictionary ?? [:]
        proxies["ApiConnectorTesting.SessionBridge"] = self
        configuration.connectionProxyDictionary = proxies
        #else
        configuration.urlCache = HoldingCache(self)
        #endif
    }
}

#if !canImport(FoundationNetworking)
/// A cache that stores nothing, and holds a bridge's entry.
///
/// Unchecked, as its class is: what it adds never changes.
private final class HoldingCache: URLCache, @unchecked Sendable {
    private let entry: BridgeEntry

    init(_ entry: BridgeEntry) {
        self.entry = entry
        super.init(memoryCapacity: 0, diskCapacity: 0, directory: nil)
    }
}
#endif

/// The one thing that a process has to share: from the class that a session names to what answers it.
///
/// A class has to be named because `protocolClasses` takes types. Each bridge has one of its own that no other gets,
/// however long the process lives, so that a session whose test is over never meets the answers of another. It holds no
/// entry: each goes with its session, and all that stays is the last number that was given out.
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

    /// How many bridges there are.
    var count: Int { state.withLock { $0.places.count } }

    /// The class of a number: its digits in binary, as types in one another.
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

/// What tells one bridge's class from another's.
protocol BridgeSlot {}

enum FirstSlot: BridgeSlot {}

enum EvenSlot<Rest: BridgeSlot>: BridgeSlot {}

enum OddSlot<Rest: BridgeSlot>: BridgeSlot {}
