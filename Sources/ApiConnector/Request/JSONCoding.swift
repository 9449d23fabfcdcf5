// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How a backend writes JSON: the setting for the encoder and the decoder together.
///
/// ```swift
/// let configuration = ConnectionConfiguration(json: JSONCoding(dates: .iso8601, keys: .snakeCase))
/// ```
///
/// A date in a query and in a form is written as in a JSON body, unless its ``FormEncoding`` says otherwise. Canned
/// values of tests are written by the coders of the connection that asks.
public struct JSONCoding: Sendable {
    /// How dates are written and read; ``DateStyle/iso8601`` by default.
    public var dates: DateStyle

    /// How keys are written and read; ``KeyStyle/asDeclared`` by default.
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
    /// How a date is written and read.
    public struct DateStyle: Sendable {
        let encoding: JSONEncoder.DateEncodingStrategy
        let decoding: JSONDecoder.DateDecodingStrategy

        /// `2016-11-21T00:00:00Z` (RFC 3339) in UTC, without a fraction of a second.
        ///
        /// Reads any offset, with or without a fraction.
        public static let iso8601 = DateStyle(encoding: .iso8601, decoding: .custom(readInternetDate))

        /// `2016-11-21T00:00:00.500Z`: as ``iso8601``, rounded to milliseconds.
        public static let iso8601WithMilliseconds = DateStyle(
            encoding: .custom { date, encoder in
                var container = encoder.singleValueContainer()
                // The style truncates, and most milliseconds lie just below their text.
                let rounded = date.addingTimeInterval(0.0005)
                try container.encode(rounded.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
            },
            decoding: .custom(readInternetDate)
        )

        /// `1479686400`, or `1479686400.5`: seconds since 1970.
        public static let secondsSince1970 = DateStyle(encoding: .secondsSince1970, decoding: .secondsSince1970)

        /// `1479686400500`: milliseconds since 1970, rounded to whole ones.
        public static let millisecondsSince1970 = DateStyle(
            encoding: .custom { date, encoder in
                var container = encoder.singleValueContainer()
                try container.encode((date.timeIntervalSince1970 * 1000).rounded())
            },
            decoding: .millisecondsSince1970
        )

        /// Your own text, such as `2016-11-21`.
        ///
        /// - Parameters:
        ///   - write: The text of a date.
        ///   - read: The date of a text; nil for a text that is not a date, which fails with `.decodingFailed`.
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
        private static func readInternetDate(from decoder: any Decoder) throws -> Date {
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            if let date = try? Date(text, strategy: .iso8601) { return date }
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            if let date = try? Date(text, strategy: style) { return date }
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "Expected a date as RFC 3339 writes it, such as 2016-11-21T00:00:00Z."
            )
        }
    }

    /// How an object's keys are written and read.
    public struct KeyStyle: Sendable {
        let encoding: JSONEncoder.KeyEncodingStrategy
        let decoding: JSONDecoder.KeyDecodingStrategy

        /// As the model's coding keys are declared.
        public static let asDeclared = KeyStyle(encoding: .useDefaultKeys, decoding: .useDefaultKeys)

        /// `avatar_url` for a property `avatarUrl`.
        ///
        /// Foundation reads `avatar_url` as `avatarUrl`, never as `avatarURL`. Name the latter in the model's
        /// coding keys as `case avatarURL = "avatarUrl"`.
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

extension ApiRequest {
    /// What the connection encodes JSON with; nil for a request made by hand, which has Foundation's defaults.
    ///
    /// A test double writes its canned values with it.
    public var encoder: JSONEncoder? { coders?.encoder }

    /// What the connection decodes JSON with; nil for a request made by hand, which has Foundation's defaults.
    public var decoder: JSONDecoder? { coders?.decoder }
}
