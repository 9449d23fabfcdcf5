// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

enum WorkingWithJSON {
    struct Filter: ApiModel {
        var before: Date
    }

    enum Calendar: ApiRouter {
        typealias EnvironmentType = Server
        case meetings(Filter)
        case day(Date)
        case all

        var path: ApiPath { "/meetings" }

        var queryItems: ApiQuery {
            switch self {
            case .meetings(let filter): .encoding(filter)
            case .day(let date): ["date": date]
            default: .empty
            }
        }
    }

    struct Person: ApiModel {
        let avatarURL: URL

        enum CodingKeys: String, CodingKey {
            case avatarURL = "avatarUrl"
        }
    }

    struct Day: Codable, Hashable, Sendable, CustomStringConvertible {
        let date: Date
        var description: String { date.formatted(Self.style) }

        private static let style = Date.ISO8601FormatStyle().year().month().day()

        init(_ date: Date) {
            self.date = date
        }

        init(from decoder: any Decoder) throws {
            let text = try decoder.singleValueContainer().decode(String.self)
            date = try Date(text, strategy: Self.style)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(description)
        }
    }

    struct Stay: ApiModel, Equatable {
        var arrival: Day
        var bookedAt: Date
    }

    @Test static func aDayAndAMomentHaveAStyleEach() throws {
        let json = JSONCoding(dates: .iso8601)
        let date = Date(timeIntervalSince1970: 1_479_686_400)
        let stay = Stay(arrival: Day(date), bookedAt: date)
        let data = try json.makeEncoder().encode(stay)
        let value = try JSONDecoder().decode(JSONValue.self, from: data)
        #expect(value["arrival"].string == "2016-11-21" && value["bookedAt"].string == "2016-11-21T00:00:00Z")
        #expect(try json.makeDecoder().decode(Stay.self, from: data) == stay)
        let query = ApiQuery.encoding(["on": Day(date)])
        #expect(query.items.map(\.value) == ["2016-11-21"])
        let path: ApiPath = "/days/\(Day(date))"
        #expect(path.description == "/days/2016-11-21")
    }

    @Test static func theAvatarIsReadFromSnakeCase() throws {
        let json = Data(#"{"avatar_url": "https://example.com/ada.png"}"#.utf8)
        let person = try JSONCoding(keys: .snakeCase).makeDecoder().decode(Person.self, from: json)
        #expect(person.avatarURL.path == "/ada.png")
    }

    @Test static func aDayIsWrittenAsTheStyleSays() throws {
        let json = JSONCoding(dates: .day)
        let data = try json.makeEncoder().encode([Date(timeIntervalSince1970: 1_479_686_400)])
        #expect(String(decoding: data, as: UTF8.self) == #"["2016-11-21"]"#)
        #expect(
            try json.makeDecoder().decode([Date].self, from: data) == [Date(timeIntervalSince1970: 1_479_686_400)]
        )
    }

    static func configures() {
        let configuration = ConnectionConfiguration(json: JSONCoding(dates: .iso8601, keys: .snakeCase))
        let api = NetworkConnector<SystemProvider, Calendar>(environment: .production, configuration: configuration)
        _ = api
    }

    static func configuresCoders() {
        var configuration = ConnectionConfiguration(json: JSONCoding(keys: .snakeCase))
        let decoder = JSONCoding(keys: .snakeCase).makeDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        configuration.decoder = decoder
        let options = CallOptions(json: JSONCoding(dates: .secondsSince1970))
        _ = (configuration, options)
    }

    static func readsWithoutAModel(
        _ api: NetworkConnector<SystemProvider, Calendar>,
        _ today: Date
    ) async throws(ApiConnectorError) {
        let body = RequestBody.json(["title": "Tea", "guests": 3, "tags": ["hot", nil], "isOpen": true])
        let value = try await api.value(JSONValue.self, at: .day(today))
        show(value["meetings"][0]["title"].string ?? "no meeting")
        show(value["total"].int ?? 0)
        _ = body
    }

    private static func show(_ what: Any) { print(what) }
}

extension JSONCoding.DateStyle {
    static let day = text(
        { $0.formatted(.iso8601.year().month().day()) },
        read: { try? Date($0, strategy: .iso8601.year().month().day()) }
    )
}
