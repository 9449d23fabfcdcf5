// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

struct Post: Codable, Equatable {
    let title: String
    let description: String

    static let sample = Post(title: "Hello", description: "The first one")
}

extension Date {
    /// The day in UTC; the README of 2016 leaves this conversion to its reader.
    var convertToString: String {
        formatted(Date.ISO8601FormatStyle().year().month().day())
    }

    static let seedDay = Date(timeIntervalSince1970: 1_479_686_400)
}
