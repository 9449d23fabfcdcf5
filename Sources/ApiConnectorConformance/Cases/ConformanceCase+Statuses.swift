// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension ConformanceCase {
    private static let make = CaseMaker(topic: .statuses)

    /// Cases about statuses that some clients handle themselves.
    static let statuses: [ConformanceCase] = [
        make("delivers every status as a response", answers(to: knownStatuses)) { probe in
            for status in knownStatuses { try await probe.demandStatus(status) }
        },
        make("delivers an unknown status", answers(to: oddStatuses)) { probe in
            for status in oddStatuses { try await probe.demandStatus(status) }
        },
        make("delivers a redirect and does not follow it", PeerAnswers(redirects)) { probe in
            let targets = redirects.keys.sorted()
            for target in targets {
                let response = try await probe.send(probe.request(target)).response
                try probe.demand(response.status.isRedirection, "\(target) returned \(response.status)")
                try probe.demand(response.headers["Location"]?.isEmpty == false, "\(target) arrived without Location")
                try probe.demandEqual(response.url, probe.side.url(target), "the URL")
            }
            try probe.demandEqual(probe.targets, targets, "the requests")
        },
        make("delivers the body of a redirect", PeerAnswers(redirects)) { probe in
            for target in redirects.keys.sorted() {
                try probe.demandEqual(try await probe.text(probe.request(target)), "moved", "the body of \(target)")
            }
        },
        make("sends no request after a redirected POST", PeerAnswers(redirects)) { probe in
            for target in redirects.keys.sorted() {
                _ = try await probe.send(probe.request(target, .post, .text("once")))
            }
            let seen = probe.log.requests.map {
                "\($0.method) \($0.target) \(String(decoding: $0.body, as: UTF8.self))"
            }
            try probe.demandEqual(seen, redirects.keys.sorted().map { "POST \($0) once" }, "the requests")
        },
        make("delivers a redirect with any Location", oddRedirects) { probe in
            let targets = oddLocations.indices.map { "/\($0)" }
            for target in targets {
                let response = try await probe.send(probe.request(target)).response
                try probe.demandEqual(response.status, 302, "the status of \(target)")
            }
            try probe.demandEqual(probe.targets, targets, "the requests")
        },
        make("delivers the body of a redirect whose Location is not a URL", oddRedirects) { probe in
            for target in oddLocations.indices.map({ "/\($0)" }) {
                try probe.demandEqual(try await probe.text(probe.request(target)), "moved", "the body of \(target)")
            }
        },
        make("delivers a 401 of any scheme with its body", PeerAnswers(refusals)) { probe in
            for target in refusals.keys.sorted() {
                let (response, body) = try await probe.send(probe.request(target))
                try probe.demandEqual(response.status, 401, "the status of \(target)")
                try probe.demandEqual(String(decoding: body, as: UTF8.self), "sign in", "the body of \(target)")
            }
            try probe.demandEqual(probe.targets, refusals.keys.sorted(), "the requests")
        },
        make("sends a request once, regardless of the status", answers(to: passingStatuses)) { probe in
            for status in passingStatuses { try await probe.demandStatus(status) }
            try probe.demandEqual(probe.targets, passingStatuses.map { "/\($0)" }, "the requests")
        },
    ]

    private static let knownStatuses = [200, 201, 202, 203, 206, 300, 400, 402, 403, 404, 409, 410, 418, 422, 451, 501]

    private static let oddStatuses = [226, 299, 399, 499, 599]

    /// Statuses that some clients retry.
    private static let passingStatuses = [408, 421, 425, 429, 500, 502, 503, 504]

    private static func answers(to statuses: [Int]) -> PeerAnswers {
        PeerAnswers(
            Dictionary(
                uniqueKeysWithValues: statuses.map { ("/\($0)", PeerAnswer.text("body", HTTPStatus(rawValue: $0))) }
            )
        )
    }

    private static let redirects: [String: PeerAnswer] = {
        var answers: [String: PeerAnswer] = [:]
        for status in [301, 302, 303, 307, 308] {
            for (number, location) in ["/next", "next", "//127.0.0.2:1/x", "http://127.0.0.2:1/"].enumerated() {
                answers["/\(status)/\(number)"] = .text("moved", HTTPStatus(rawValue: status), ["Location": location])
            }
        }
        return answers
    }()

    private static let oddLocations: [String?] = [
        nil, "//", "http://", "http://[", "http:// bad", "?q", "#f", "file:///etc/passwd", "javascript:0",
        "http://a:b:c/", "%", "http://127.0.0.1:99999/", "ä",
    ]

    private static let oddRedirects = PeerAnswers(
        Dictionary(
            uniqueKeysWithValues: oddLocations.enumerated().map { number, location in
                var headers = HTTPHeaders()
                headers["Location"] = location
                return ("/\(number)", PeerAnswer.text("moved", 302, headers))
            }
        )
    )

    private static let refusals: [String: PeerAnswer] = {
        let challenges = ["Basic realm=\"x\"", "Bearer", "Digest realm=\"x\", nonce=\"n\"", "Negotiate", "Odd y"]
        var answers = ["/none": PeerAnswer.text("sign in", 401)]
        for (number, challenge) in challenges.enumerated() {
            answers["/\(number)"] = .text("sign in", 401, ["WWW-Authenticate": challenge])
        }
        return answers
    }()
}

extension ConformanceProbe {
    fileprivate func demandStatus(_ status: Int) async throws {
        let (response, body) = try await send(request("/\(status)"))
        try demandEqual(response.status.rawValue, status, "the status")
        try demandEqual(String(decoding: body, as: UTF8.self), "body", "the body of \(status)")
    }
}
