// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// What one bridge answers from; its sessions' class leads to it.
final class BridgeEntry: Sendable {
    let responses: CarriedResponses
    let timeSource: any TimeSource
    let delivery: SessionBridge.BodyDelivery

    /// R7: on Linux the session's own fields never reach a protocol.
    let headers: HTTPHeaders

    private let number: Int

    init(
        responses: CarriedResponses,
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
        return configuration
    }
}

/// The one thing that a process has to share: from the class that a session names to what answers it.
///
/// A class has to be named because `protocolClasses` takes types. Each bridge has one of its own that no other gets,
/// however long the process lives, so that a session whose test is over never meets the answers of another.
final class BridgeTable: Sendable {
    static let shared = BridgeTable()

    private struct Place {
        weak var entry: BridgeEntry?
    }

    private struct State {
        var lastNumber = 0
        var places: [ObjectIdentifier: Place] = [:]
    }

    /// Where the clients of all bridges are called.
    let turns = SessionTurns()

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
