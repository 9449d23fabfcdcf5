// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

private enum Host: String, ApiEnvironment {
    case test = "calendar.example.com"
}

private struct Meeting: Codable, Hashable {
    var startsAt: Date
    var roomName = "blue"
}

private struct SearchFilter: Encodable {
    var before: Date
    var days: [Date] = []
}

private enum Calendar: ApiRouter {
    typealias EnvironmentType = Host

    case add(Meeting)
    case search(SearchFilter, FormEncoding)
    case on(Date)
    case form(SearchFilter)

    var path: String { "/meetings" }

    var method: HTTPMethod {
        switch self {
        case .add, .form: .post
        case .search, .on: .get
        }
    }

    var queryItems: ApiQuery {
        switch self {
        case .search(let filter, let encoding): .encoding(filter, as: encoding)
        case .on(let day): ["day": day, "all": true, "page": nil]
        case .add, .form: .empty
        }
    }

    var body: RequestBody {
        switch self {
        case .add(let meeting): .json(meeting)
        case .form(let filter): .form(filter)
        case .search, .on: .empty
        }
    }
}

private let start = Date(timeIntervalSince1970: 1_479_686_400.5)

private func json(_ data: Data) throws -> JSONValue { try JSONDecoder().decode(JSONValue.self, from: data) }

private func calendar(_ json: JSONCoding?) -> NetworkConnector<TestConnector<ClosureResponses>, Calendar> {
    NetworkConnector(
        environment: .test,
        provider: TestConnector { _ in .json([Meeting(startsAt: start)]) },
        configuration: ConnectionConfiguration(json: json)
    )
}

struct JSONCodingTests {
    struct Style: Sendable, CustomTestStringConvertible {
        let name: String
        let dates: JSONCoding.DateStyle
        let json: String
        let query: String

        var testDescription: String { name }
    }

    static let styles = [
        Style(name: "iso8601", dates: .iso8601, json: #""2016-11-21T00:00:00Z""#, query: "2016-11-21T00:00:00Z"),
        Style(
            name: "iso8601WithMilliseconds",
            dates: .iso8601WithMilliseconds,
            json: #""2016-11-21T00:00:00.500Z""#,
            query: "2016-11-21T00:00:00.500Z"
        ),
        Style(name: "secondsSince1970", dates: .secondsSince1970, json: "1479686400.5", query: "1479686400.5"),
        Style(
            name: "millisecondsSince1970",
            dates: .millisecondsSince1970,
            json: "1479686400500",
            query: "1479686400500"
        ),
        Style(
            name: "text",
            dates: .text({ _ in "monday" }, read: { $0 == "monday" ? start : nil }),
            json: #""monday""#,
            query: "monday"
        ),
    ]

    @Test(arguments: styles)
    func aDateIsWrittenTheSameWayInBodyQueryFormAndCannedValue(_ style: Style) async throws {
        let api = calendar(JSONCoding(dates: style.dates))
        let item = style.query.replacing(":", with: "%3A")
        let body = try api.request(at: .add(Meeting(startsAt: start))).body.data()
        #expect(try json(body)["startsAt"].description == style.json)
        let url = try api.request(at: .on(start)).url
        #expect(url.query(percentEncoded: false) == "day=\(style.query)&all=true")
        #expect(api.url(at: .on(start)) == url)
        let filter = SearchFilter(before: start, days: [start, start])
        #expect(
            try api.request(at: .search(filter, FormEncoding(arrays: .comma))).url.query(percentEncoded: false)
                == "before=\(style.query)&days=\(style.query),\(style.query)"
        )
        #expect(
            try api.request(at: .form(SearchFilter(before: start))).body.data() == Data("before=\(item)".utf8)
        )
        let canned = try await api.data(at: .on(start))
        #expect(try json(canned)[0]["startsAt"].description == style.json)
        let meetings = try await api.value([Meeting].self, at: .on(start))
        #expect(meetings.count == 1)
        #expect(meetings.first.map { abs($0.startsAt.timeIntervalSince(start)) < 1 } == true)
    }

    /// Backends without Foundation do not read seconds since 2001.
    @Test func anEncoderWithFoundationsDefaultStyleWritesTheQueryInISO8601() throws {
        let api = NetworkConnector(
            environment: .test,
            provider: TestConnector { _ in .status(204) },
            router: Calendar.self,
            configuration: ConnectionConfiguration(encoder: JSONEncoder())
        )
        #expect(try api.request(at: .on(start)).url.query(percentEncoded: false) == "day=2016-11-21T00:00:00Z&all=true")
    }

    @Test func aCustomEncoderAlsoWritesTheQuery() throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        var configuration = ConnectionConfiguration()
        configuration.encoder = encoder
        let api = NetworkConnector(
            environment: .test,
            provider: TestConnector { _ in .status(204) },
            router: Calendar.self,
            configuration: configuration
        )
        #expect(api.url(at: .on(start)).query() == "day=1479686400.5&all=true")
    }

    /// As reference types allow it: nothing is set on the configuration.
    @Test func codersThatWereConfiguredInPlaceWriteTheQueryTheBodyAndCannedValues() async throws {
        let configuration = ConnectionConfiguration()
        configuration.encoder.dateEncodingStrategy = .secondsSince1970
        configuration.decoder.dateDecodingStrategy = .secondsSince1970
        let api = NetworkConnector(
            environment: .test,
            provider: TestConnector { _ in .json([Meeting(startsAt: start)]) },
            router: Calendar.self,
            configuration: configuration
        )
        let request = try api.request(at: .on(start))
        #expect(request.url.query() == "day=1479686400.5&all=true")
        #expect(api.url(at: .on(start)) == request.url)
        #expect(request.encoder === configuration.encoder && request.decoder === configuration.decoder)
        #expect(try json(try api.request(at: .add(Meeting(startsAt: start))).body.data())["startsAt"] == 1479686400.5)
        #expect(try await api.value([Meeting].self, at: .on(start)) == [Meeting(startsAt: start)])
    }

    @Test(arguments: [0, 81, 123, 500, 999]) func millisecondsAreRounded(_ count: Int) throws {
        let date = Date(timeIntervalSince1970: 1_479_686_400 + Double(count) / 1000)
        let fraction = String(1000 + count).dropFirst()
        for (dates, text) in [
            (JSONCoding.DateStyle.iso8601WithMilliseconds, "\"2016-11-21T00:00:00.\(fraction)Z\""),
            (.millisecondsSince1970, "1479686400\(fraction)"),
        ] {
            let coding = JSONCoding(dates: dates)
            let data = try coding.makeEncoder().encode([date])
            #expect(String(decoding: data, as: UTF8.self) == "[\(text)]")
            let read = try coding.makeDecoder().decode([Date].self, from: data)
            #expect(try coding.makeEncoder().encode(read) == data)
        }
    }

    @Test(
        arguments: [
            (-62_167_219_200, "0000-01-01T00:00:00"), (-62_135_596_800, "0001-01-01T00:00:00"),
            (-14_826_715_200, "1500-02-28T12:00:00"), (-14_826_628_800, "1500-03-01T12:00:00"),
            (-12_220_156_801, "1582-10-04T23:59:59"), (-12_220_156_800, "1582-10-05T00:00:00"),
            (-12_219_292_800, "1582-10-15T00:00:00"), (-1, "1969-12-31T23:59:59"), (0, "1970-01-01T00:00:00"),
            (951_825_600, "2000-02-29T12:00:00"), (253_402_300_799, "9999-12-31T23:59:59"),
        ] as [(Double, String)]
    )
    func aDateOfAnyYearIsWrittenInTheGregorianCalendar(_ seconds: Double, _ text: String) throws {
        let date = Date(timeIntervalSince1970: seconds)
        for (dates, ending) in [(JSONCoding.DateStyle.iso8601, "Z"), (.iso8601WithMilliseconds, ".000Z")] {
            let coding = JSONCoding(dates: dates)
            let data = try coding.makeEncoder().encode([date])
            #expect(String(decoding: data, as: UTF8.self) == "[\"\(text)\(ending)\"]")
            #expect(try coding.makeDecoder().decode([Date].self, from: data) == [date])
            let url = try calendar(coding).request(at: .on(date)).url
            #expect(url.query(percentEncoded: false) == "day=\(text)\(ending)&all=true")
        }
        let query = Calendar.on(date).url(for: .test).query(percentEncoded: false)
        #expect(query == "day=\(text)Z&all=true")
        let form = FormEncoding(dates: .iso8601)
        let filtered = try calendar(nil).request(at: .search(SearchFilter(before: date), form)).url
        #expect(filtered.query(percentEncoded: false) == "before=\(text)Z")
    }

    @Test func theFractionOfASecondIsLeftOut() throws {
        let dates = [Date(timeIntervalSince1970: 0.999), Date(timeIntervalSince1970: -0.25)]
        let data = try JSONCoding(dates: .iso8601).makeEncoder().encode(dates)
        #expect(String(decoding: data, as: UTF8.self) == #"["1970-01-01T00:00:00Z","1969-12-31T23:59:59Z"]"#)
    }

    @Test(arguments: [-62_167_219_201, 253_402_300_800, 1e300, .infinity, -.infinity, .nan] as [Double])
    func aDateThatRFC3339CannotWriteDoesNotEncode(_ seconds: Double) throws {
        let date = Date(timeIntervalSince1970: seconds)
        for dates in [JSONCoding.DateStyle.iso8601, .iso8601WithMilliseconds] {
            let encoder = JSONCoding(dates: dates).makeEncoder()
            #expect(throws: EncodingError.self) { try encoder.encode(Meeting(startsAt: date)) }
            let api = calendar(JSONCoding(dates: dates))
            let inQuery = try #require(throws: ApiConnectorError.self) { try api.request(at: .on(date)) }
            #expect(inQuery.detail.contains("RFC 3339 has dates of the years 0 to 9999 only"))
            let inBody = try #require(throws: ApiConnectorError.self) {
                try api.request(at: .add(Meeting(startsAt: date))).body.data()
            }
            #expect(inBody.kind == .encodingFailed)
            #expect(inBody.detail.contains("RFC 3339 has dates of the years 0 to 9999 only"))
        }
    }

    @Test func withoutAConnectionAQueryHasISO8601() {
        #expect(Calendar.on(start).url(for: .test).query(percentEncoded: false) == "day=2016-11-21T00:00:00Z&all=true")
        #expect(calendar(nil).url(at: .on(start)) == Calendar.on(start).url(for: .test))
    }

    @Test func aFormEncodingThatNamesAStyleKeepsIt() throws {
        let api = calendar(JSONCoding(dates: .iso8601))
        let url = try api.request(at: .search(SearchFilter(before: start), FormEncoding(dates: .secondsSince1970))).url
        #expect(url.query() == "before=1479686400.5")
    }

    @Test func snakeCaseIsForBothDirections() async throws {
        let coding = JSONCoding(keys: .snakeCase)
        let body = try calendar(coding).request(at: .add(Meeting(startsAt: start))).body.data()
        #expect(try json(body).object?.keys.sorted() == ["room_name", "starts_at"])
        let json = #"{"starts_at": "2016-11-21T00:00:00Z", "room_name": "red"}"#
        let meeting = try coding.makeDecoder().decode(Meeting.self, from: Data(json.utf8))
        #expect(meeting.roomName == "red")
    }

    @Test(arguments: [
        "2016-11-21T00:00:00Z", "2016-11-21T00:00:00.000Z", "2016-11-21T01:00:00+01:00",
        "2016-11-20T23:30:00.000-00:30",
    ])
    func iso8601ReadsFractionsAndOffsets(_ text: String) throws {
        for dates in [JSONCoding.DateStyle.iso8601, .iso8601WithMilliseconds] {
            let decoder = JSONCoding(dates: dates).makeDecoder()
            #expect(
                try decoder.decode([Date].self, from: Data("[\"\(text)\"]".utf8))
                    == [Date(timeIntervalSince1970: 1_479_686_400)]
            )
        }
    }

    @Test func aCallMayHaveItsOwnCoding() async throws {
        let options = CallOptions(json: JSONCoding(dates: .millisecondsSince1970))
        let url = try calendar(JSONCoding()).request(at: .on(start), options: options).url
        #expect(url.query() == "day=1479686400500&all=true")
    }

    @Test func anEncoderThatWritesADateAsAnObjectIsRefusedInAQuery() {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { _, encoder in
            var container = encoder.container(keyedBy: JSONKey.self)
            try container.encode(1, forKey: .at)
        }
        let api = NetworkConnector(
            environment: .test,
            provider: TestConnector { _ in .status(204) },
            router: Calendar.self,
            configuration: ConnectionConfiguration(encoder: encoder)
        )
        let error = #expect(throws: ApiConnectorError.self) { try api.request(at: .on(start)) }
        #expect(error?.kind == .encodingFailed)
        #expect(error?.detail.contains("the connection's encoder writes neither a string nor a number for it") == true)
    }
}

private enum JSONKey: CodingKey { case at }
