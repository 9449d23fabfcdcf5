// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import FlyingFox
import Foundation

/// The pugs of the workshop, as files on a server: a list, and one file per pug.
struct PugsBackend: Backend {
    private struct Pug: Encodable {
        let pugId: String
        let name: String
        let photo: String
        var about: String?
    }

    private let pugs = [
        Pug(
            pugId: "tedthepug0810",
            name: "小巴哥",
            photo: "https://fengyi-line.github.io/Puglist/api/image/ted.jpg",
            about: "Sleeps, mostly"
        ),
        Pug(
            pugId: "maxthepug",
            name: "Max",
            photo: "https://fengyi-line.github.io/Puglist/api/image/max.jpg",
            about: "Snores, mostly"
        ),
    ]

    func answer(_ call: Call) async throws -> HTTPResponse {
        switch (call.method, Array(call.path)) {
        case ("GET", ["api", "list.json"]):
            return try .json(pugs.map { Pug(pugId: $0.pugId, name: $0.name, photo: $0.photo) })
        case ("GET", let path) where path.count == 3 && path[0] == "api" && path[1] == "info":
            guard let pug = pugs.first(where: { "\($0.pugId).json" == path[2] }) else {
                return .message("There is no such pug.", .notFound)
            }
            return try .json(pug)
        default:
            return .message("There is no such file.", .notFound)
        }
    }
}
