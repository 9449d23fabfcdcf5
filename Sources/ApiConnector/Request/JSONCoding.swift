// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How a backend writes JSON: settings for both the encoder and the decoder.
///
/// ```swift
/// let configuration = ConnectionConfiguration(json: JSONCoding(dates: .iso8601, keys: .snakeCase))
/// ```
///
/// Dates in a query or a form are written as in a JSON body, unless the ``FormEncoding`` sets another style. Canned
/// values in tests are encoded with the encoder of the connection under test.
public struct JSONCoding: Sendable {
    /// How dates are encoded and decoded; ``DateStyle/iso8601`` by default.
    public var dates: DateStyle

    /// How keys are encoded and decoded; ``KeyStyle/asDeclared`` by default.
    public var keys: KeyStyle

    /// Makes a coding.
    public init(dates: DateStyle = .iso8601, keys: KeyStyle = .asDeclared) {
        self.dates = dates
        self.keys = keys
    }

    /// A new encoder with these styles.
    public func makeEncoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = dates.encoding
        encoder.keyEncodingStrategy = keys.encoding
        return encoder
    }

    /// A new decoder with these styles.
    public func makeDecoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = dates.decoding
        decoder.keyDecodingStrategy = keys.decoding
        return decoder
    }
}

extension JSONCoding {
    /// How a date is encoded and decoded.
    public struct DateStyle: Sendable {
        let encoding: JSONEncoder.DateEncodingStrategy
        let decoding: JSONDecoder.DateDecodingStrategy

        /// `2016-11-21T00:00:00Z` (RFC 3339) in UTC, without fractions of a second.
        ///
        /// A date outside of the years 0 to 9999 does not encode: RFC 3339 has no text for it. The calendar is the
        /// Gregorian one, also before 1582.
        ///
        /// Decodes what RFC 3339 allows, and nothing else: any offset, `t` and `z`, and fractions of any length.
        public static let iso8601 = DateStyle(
            encoding: .custom { try writeInternetDate($0, to: $1, hasMilliseconds: false) },
            decoding: .custom(readInternetDate)
        )

        /// `2016-11-21T00:00:00.500Z`: like ``iso8601``, rounded to milliseconds.
        public static let iso8601WithMilliseconds = DateStyle(
            encoding: .custom { try writeInternetDate($0, to: $1, hasMilliseconds: true) },
            decoding: .custom(readInternetDate)
        )

        /// `1479686400`, or `1479686400.5`: seconds since 1970.
        public static let secondsSince1970 = DateStyle(encoding: .secondsSince1970, decoding: .secondsSince1970)

        /// `1479686400500`: milliseconds since 1970, rounded to an integer.
        public static let millisecondsSince1970 = DateStyle(
            encoding: .custom { date, encoder in
                var container = encoder.singleValueContainer()
                try container.encode((date.timeIntervalSince1970 * 1000).rounded())
            },
            decoding: .millisecondsSince1970
        )

        /// A custom text, such as `2016-11-21`.
        ///
        /// - Parameters:
        ///   - write: Returns the text of a date.
        ///   - read: Returns the date of a text; nil if the text is not a date. The call then fails with kind
        ///     `.decodingFailed`.
        public static func text(
            _ write: @escaping @Sendable (Date) -> String,
            read: @escaping @Sendable (String) -> Date?
        ) -> DateStyle {
            DateStyle(
                encoding: .custom { date, encoder in
                    var container = encoder.singleValueContainer()
                    try container.encode(write(date))
                },
                decoding: .custom { decoder in
                    let container = try decoder.singleValueContainer()
                    if let date = read(try container.decode(String.self)) { return date }
                    throw DecodingError.dataCorruptedError(
                        in: container,
                        debugDescription: "The text is not a date of the connection's style."
                    )
                }
            )
        }

        @Sendable
        private static func writeInternetDate(_ date: Date, to encoder: any Encoder, hasMilliseconds: Bool) throws {
            guard let text = InternetDate.text(date, hasMilliseconds: hasMilliseconds) else {
                let reason = "RFC 3339 has dates of the years 0 to 9999 only."
                let context = EncodingError.Context(codingPath: encoder.codingPath, debugDescription: reason)
                // Not the date: its description traps if it is infinite.
                throw EncodingError.invalidValue(date.timeIntervalSince1970, context)
            }
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }

        @Sendable
        private static func readInternetDate(from decoder: any Decoder) throws -> Date {
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            if let date = InternetDate.date(text) { return date }
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "Expected a date as RFC 3339 writes it, such as 2016-11-21T00:00:00Z."
            )
        }
    }

    /// How the keys of objects are encoded and decoded.
    public struct KeyStyle: Sendable {
        let encoding: JSONEncoder.KeyEncodingStrategy
        let decoding: JSONDecoder.KeyDecodingStrategy

        /// Keys as they are declared in the model.
        public static let asDeclared = KeyStyle(encoding: .useDefaultKeys, decoding: .useDefaultKeys)

        /// `avatar_url` for a property `avatarUrl`.
        ///
        /// Foundation decodes `avatar_url` as `avatarUrl`, never as `avatarURL`. For a property `avatarURL`, declare
        /// the coding key `case avatarURL = "avatarUrl"`.
        public static let snakeCase = KeyStyle(encoding: .convertToSnakeCase, decoding: .convertFromSnakeCase)
    }
}

/// A connection's encoder and decoder.
final class JSONCoders: Sendable {
    let encoder: JSONEncoder
    let decoder: JSONDecoder

    init(_ encoder: JSONEncoder, _ decoder: JSONDecoder) {
        self.encoder = encoder
        self.decoder = decoder
    }
}

/// A model that can be encoded, decoded and passed between actors.
///
/// If a module's default isolation is the main actor, as in new Xcode apps, a plain `Codable` struct belongs to the
/// main actor and cannot be decoded elsewhere. A struct that conforms to `ApiModel`, or is declared `nonisolated`, can
/// be decoded anywhere.
public protocol ApiModel: Codable, Sendable {}
