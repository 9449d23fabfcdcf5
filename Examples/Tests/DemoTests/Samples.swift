// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Backends
import Foundation

extension Date {
    /// 21 November 2016.
    static let sampleDay = Date(timeIntervalSince1970: 1_479_686_400)
}

extension Post {
    static let sample = Post(
        author: "ted",
        slug: "hello",
        title: "Hello",
        description: "The first one",
        publishedAt: .sampleDay
    )
}

extension BackendEnvironment {
    /// An environment whose host has no server, because the provider itself answers.
    static func sample(_ name: String) -> BackendEnvironment {
        BackendEnvironment(location: ServerLocation(host: "localhost", port: 80), name: name)
    }
}
