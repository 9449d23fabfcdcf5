// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// The limits that a server states in the fields of a response.
struct ServerLimitsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let headers: HTTPHeaders
        let quota: ServerLimits.Quota?

        init(_ headers: HTTPHeaders, _ count: Int? = nil, _ seconds: Double = 0) {
            self.headers = headers
            quota = count.map { ServerLimits.Quota(count: $0, reset: .seconds(seconds)) }
        }

        var testDescription: String { headers.description }
    }

    static let rows: [Row] = [
        // draft-ietf-httpapi-ratelimit-headers, from -08 on.
        Row(["RateLimit": "\"default\";r=50;t=30"], 50, 30),
        Row(["RateLimit": "\"default\" ; r=0 ; t=5"], 0, 5),
        Row(["RateLimit": "default;r=0;t=5"], 0, 5),
        Row(["RateLimit": "\"burst\";r=9;t=1, \"daily\";r=3;t=3600"], 3, 3600),
        Row(["RateLimit": "\"a;r=1, b\";r=4;t=2"], 4, 2),
        Row(["RateLimit": "\"a\\\";r=1\";r=4;t=2"], 4, 2),
        Row(["RateLimit": "\"one\";r=0;t=1, \"two\";r=0;t=9"], 0, 9),
        Row(["RateLimit": "\"default\";r=7", "RateLimit-Policy": "\"default\";q=10;w=60"], 7, 60),
        Row(["RateLimit": "\"one\";r=9;t=2", "ratelimit": "\"two\";r=1;t=3"], 1, 3),
        Row(["RateLimit": "\"default\";r=7"]),
        Row(["RateLimit": "\"default\";q=10;w=60"]),
        Row(["RateLimit-Policy": "\"default\";q=10;w=60"]),
        // RFC 9651: blanks, parameters of other types, keys that repeat, lists over several lines.
        Row(["RateLimit": " \"default\" ;r=50 ;t=30 "], 50, 30),
        Row(["RateLimit": "\"default\";\tr=50;\tt=30"], 50, 30),
        Row(["RateLimit": "\"default\";t=30;r=50"], 50, 30),
        Row(["RateLimit": "\"default\";r=50;t=30;pk=:cHNlPTE=:;u;v=?0;w=\"a;r=1\";x=@1"], 50, 30),
        Row(["RateLimit": "\"default\";r=50;r=7;t=30"], 7, 30),
        Row(["RateLimit": "\"default\";r=50;t=30,\"other\";r=1;t=2"], 1, 2),
        Row(["RateLimit": "default/1:a*;r=5;t=3"], 5, 3),
        Row(["RateLimit": "7;r=5;t=3"], 5, 3),
        Row(["RateLimit": "\"default\";r=999999999999999;t=1"], 1_000_000_000, 1),
        Row(["RateLimit": "\"a\";r=7", "RateLimit-Policy": "\"b\";q=1;w=9, \"a\";q=10;w=60"], 7, 60),
        Row(["RateLimit": "\"a\";r=7", "RateLimit-Policy": "\"b\";q=1;w=9"]),
        Row(["RateLimit": "\"default\";R=50;T=30"]),
        Row(["RateLimit": "\"default\";r=\"50\";t=30"]),
        Row(["RateLimit": "\"default\";r;t=30"]),
        Row(["RateLimit": "\"default\";r=?1;t=30"]),
        Row(["RateLimit": "\"default\";r=:NTA=:;t=30"]),
        Row(["RateLimit": "\"default\";r=-0;t=30"]),
        Row(["RateLimit": "\"default\";r=5e1;t=30"]),
        // -07
        Row(["RateLimit": "limit=100, remaining=50, reset=5"], 50, 5),
        Row(["RateLimit": "remaining=0,reset=5"], 0, 5),
        // -06 and before, and the forerunners.
        Row(["RateLimit-Limit": "100", "RateLimit-Remaining": "4", "RateLimit-Reset": "20"], 4, 20),
        Row(["RateLimit-Remaining": "4;w=1", "RateLimit-Reset": "20"], 4, 20),
        Row(["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "20"], 0, 20),
        Row(["x-ratelimit-remaining": "0", "x-ratelimit-reset": "1767225630"], 0, 30),
        Row(["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1767225630000"], 0, 30),
        Row(["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1767225500"], 0, 0),
        Row(["X-RateLimit-Remaining": "2", "X-RateLimit-Reset-After": "0.5", "X-RateLimit-Reset": "1"], 2, 0.5),
        Row(["X-Rate-Limit-Remaining": "0", "X-Rate-Limit-Reset": "8"], 0, 8),
        Row(["RateLimit": "\"a\";r=5;t=3", "X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "9"], 1, 9),
        // Fields that cannot be read.
        Row([:]),
        Row(["RateLimit": ""]),
        Row(["RateLimit": ";;;,,,;r=;t=,\"\"\";r=1;t=2"]),
        Row(["RateLimit": "\"a\";r=-1;t=2"]),
        Row(["RateLimit": "\"a\";r=?1;t=2"]),
        Row(["RateLimit": "\"a\";r=1.2.3;t=2"]),
        Row(["RateLimit": "\"a;r=1;t=2"]),
        Row(["X-RateLimit-Remaining": "nan", "X-RateLimit-Reset": "inf"]),
        Row(["X-RateLimit-Remaining": "0x1", "X-RateLimit-Reset": "5"]),
        Row(["X-RateLimit-Remaining": "-1", "X-RateLimit-Reset": "5"]),
        Row(["X-RateLimit-Remaining": "0"]),
        Row(["X-RateLimit-Reset": "5"]),
        Row(["X-RateLimit-Remaining": "٣", "X-RateLimit-Reset": "5"]),
    ]

    @Test(arguments: rows) func isReadFromEachForm(_ row: Row) {
        let date = Date(timeIntervalSince1970: 1_767_225_600)
        let limits = ServerLimits(row.headers, status: 200, date: date)
        #expect(limits.quota == row.quota)
        #expect(limits.pause == nil)
    }

    @Test(arguments: [403, 429, 503] as [HTTPStatus]) func aRefusalWithRetryAfterIsAPause(_ status: HTTPStatus) {
        let date = Date(timeIntervalSince1970: 0)
        #expect(ServerLimits(["Retry-After": "7"], status: status, date: date).pause == .seconds(7))
        #expect(ServerLimits([:], status: status, date: date).pause == nil)
    }

    @Test func anAbsurdNumberIsOnlyLarge() {
        let digits = String(repeating: "9", count: 400)
        let fields: HTTPHeaders = ["RateLimit": "\"a\";r=\(digits);t=\(digits)", "X-RateLimit-Remaining": digits]
        let quota = ServerLimits(fields, status: 200, date: Date(timeIntervalSince1970: 0)).quota
        #expect(quota == ServerLimits.Quota(count: 1_000_000_000, reset: .seconds(1e15)))
    }

    @Test func garbledFieldsDoNotTrap() async {
        let pieces = [
            "\"", "\\", ";", ",", "=", "r", "t", "w", "0", "9", "-", ".", " ", "é", "remaining", "reset", "1e9",
        ]
        await SplitMix64.runs(SplitMix64.caseCount / 10) { random in
            var texts: [String] = []
            for _ in 0..<6 {
                let count = Int.random(in: 0...20, using: &random)
                texts.append((0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined())
            }
            let headers: HTTPHeaders = [
                "RateLimit": texts[0], "RateLimit-Policy": texts[1], "Retry-After": texts[2],
                "X-RateLimit-Remaining": texts[3], "X-RateLimit-Reset": texts[4], "RateLimit-Remaining": texts[5],
            ]
            var queue = LimitQueue(RequestLimit())
            let limits = ServerLimits(headers, status: 429, date: Date(timeIntervalSince1970: 1e9))
            _ = queue.turn(now: .zero)
            queue.answer(1, .overload, limits, now: .seconds(1))
            // After a minute, the queue forgets all limits of the server.
            try #require(queue.isForgettable(now: .seconds(61)))
        }
    }
}
