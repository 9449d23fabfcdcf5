// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// `JSONCoding.DateStyle.iso8601` reads RFC 3339, all of it and nothing else.
struct InternetDateTests {
    private func date(_ text: String) -> Double? {
        let decoder = JSONCoding(dates: .iso8601).makeDecoder()
        let json = (try? JSONEncoder().encode([text])) ?? Data()
        return (try? decoder.decode([Date].self, from: json))?.first?.timeIntervalSince1970
    }

    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2016-11-21T00:00:00Z", 1_479_686_400),
            ("2016-11-21t00:00:00z", 1_479_686_400),
            ("2016-11-21 00:00:00Z", 1_479_686_400),
            ("2016-11-21T01:00:00+01:00", 1_479_686_400), ("2016-11-20T23:30:00-00:30", 1_479_686_400),
            ("2016-11-21T00:00:00-00:00", 1_479_686_400), ("2016-11-21T23:59:00+23:59", 1_479_686_400),
            ("2016-11-21T00:00:00.5Z", 1_479_686_400.5), ("2016-11-21T00:00:00.000Z", 1_479_686_400),
            ("2016-11-21T00:00:00.25+00:00", 1_479_686_400.25),
            ("2016-11-21T00:00:00.500000000000000000000000000000001Z", 1_479_686_400.5),
            ("2000-02-29T12:00:00Z", 951_825_600), ("2024-02-29T00:00:00Z", 1_709_164_800),
            ("1985-04-12T23:20:50.52Z", 482_196_050.52), ("1937-01-01T12:00:27.87+00:20", -1_041_337_172.13),
            ("1990-12-31T23:59:60Z", 662_688_000), ("1990-12-31T15:59:60-08:00", 662_688_000),
            ("1990-12-31T23:59:60.5Z", 662_688_000.5), ("0000-01-01T00:00:00Z", -62_167_219_200.0),
            ("9999-12-31T23:59:59Z", 253_402_300_799.0), ("1900-03-01T00:00:00Z", -2_203_891_200.0),
        ] as [(String, Double)]
    )
    func reads(_ text: String, _ seconds: Double) throws {
        let found = try #require(date(text))
        #expect(abs(found - seconds) < 0.000_001)
    }

    @Test(arguments: [
        "2016-02-30T00:00:00Z", "2015-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2016-04-31T00:00:00Z",
        "2016-00-01T00:00:00Z", "2016-13-01T00:00:00Z", "2016-01-00T00:00:00Z", "2016-01-32T00:00:00Z",
        "2016-11-21T25:00:00Z", "2016-11-21T24:00:00Z", "2016-11-21T00:60:00Z", "2016-11-21T00:00:61Z",
        "2016-11-21T00:00:60Z", "2016-11-21T23:58:60Z", "1990-12-31T23:59:60+01:00", "2016-11-21T00:00:00",
        "2016-11-21T00:00:00GMT+2", "2016-11-21T00:00:00 Z", "2016-11-21_00:00:00Z",
        "2016-11-21  00:00:00Z", "2016-11-21T00:00:00Z ",
        " 2016-11-21T00:00:00Z", "2016-11-21T00:00:00Zulu", "2016-11-21T00:00:00Z and more",
        "2016-11-21T00:00:00+02", "2016-11-21T00:00:00+0200", "2016-11-21T00:00:00+24:00",
        "2016-11-21T00:00:00+01:60", "2016-11-21T00:00:00.Z", "2016-11-21T00:00:00,5Z", "2016-11-21T00:00Z",
        "2016-11-21T00Z", "2016-11-21", "20161121T000000Z", "2016-W47-1T00:00:00Z", "2016-326T00:00:00Z",
        "16-11-21T00:00:00Z", "+2016-11-21T00:00:00Z", "-2016-11-21T00:00:00Z", "12016-11-21T00:00:00Z",
        "2016-1-21T00:00:00Z", "2016-11-21T0:00:00Z", "2016-11-21T00:00:0Z", "2016-11-21T00:00:00\u{2212}01:00",
        "２016-11-21T00:00:00Z", "2016-11-21T-1:00:00Z", "2016-11-21T00:00:00.5", "", "Z", "T",
        "2016-11-21T00:00:00.999999999999999999999999999999",
    ])
    func refuses(_ text: String) {
        #expect(date(text) == nil)
    }

    /// A date is at its place or nowhere: a text without its last characters is no date.
    @Test func refusesEachCut() {
        for text in ["2016-11-21T00:00:00Z", "2016-11-21T00:00:00.25+01:30"] {
            for count in 0..<text.count { #expect(date(String(text.prefix(count))) == nil) }
        }
    }

    @Test func adviceOnADateIsGivenForRFC3339Only() async throws {
        struct Meeting: ApiModel {
            let at: Date
        }
        for (text, style) in [("2016-11-21t00:00:00z", ".iso8601"), ("2016-02-30T00:00:00Z", ".text(_:read:)")] {
            let api = NetworkConnector<_, Endpoint<ApiPath>>(
                environment: Place(),
                provider: TestConnector { _ in .json(["at": text]) },
                configuration: ConnectionConfiguration(json: JSONCoding(dates: .secondsSince1970))
            )
            let error = await #expect(throws: ApiConnectorError.self) {
                _ = try await api.value(Meeting.self, at: Endpoint("/"))
            }
            #expect("\(try #require(error))".contains("JSONCoding(dates: \(style))"))
        }
    }
}
