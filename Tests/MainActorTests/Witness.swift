// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Dispatch

enum LocalEnvironment: String, ApiEnvironment {
    case localhost
}

enum WitnessRouter: ApiRouter {
    typealias EnvironmentType = LocalEnvironment

    case posts
    case publish(Witness)

    var path: ApiPath { "/posts" }

    var method: HTTPMethod {
        switch self {
        case .posts: .get
        case .publish: .post
        }
    }

    var body: RequestBody {
        switch self {
        case .posts: .empty
        case .publish(let witness): .json(witness)
        }
    }
}

/// Notes, wherever code of the library runs, whether that is the main queue.
enum MainQueue {
    nonisolated private static let key = DispatchSpecificKey<Bool>()

    nonisolated static func mark() {
        DispatchQueue.main.setSpecific(key: key, value: true)
    }

    nonisolated static var isCurrent: Bool {
        DispatchQueue.getSpecific(key: key) == true
    }
}

nonisolated final class Sightings: Sendable {
    private let places = Locked<[String: Bool]>([:])

    func note(_ place: String) {
        let isMain = MainQueue.isCurrent
        places.withLock { $0[place] = isMain || $0[place] == true }
    }

    var seen: [String: Bool] { places.withLock { $0 } }

    /// True for the first call.
    func noteOnce() -> Bool {
        defer { note("once") }
        return seen["once"] == nil
    }

    static let decoder = Sightings()
}

struct Witness: ApiModel, Equatable {
    var sightings: Sightings { Sightings.decoder }
    let name: String

    init(name: String) { self.name = name }

    enum CodingKeys: String, CodingKey { case name }

    init(from decoder: any Decoder) throws {
        name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
        Sightings.decoder.note("decoder of \(name)")
    }

    func encode(to encoder: any Encoder) throws {
        Sightings.decoder.note("encoder of \(name)")
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
    }
}
