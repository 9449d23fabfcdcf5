// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension SupportSource {
    static let models = """
        /// A model of a request's body.
        <public>nonisolated protocol RequestModel: Encodable, Sendable {}

        /// A model of a response's body.
        <public>nonisolated protocol ResponseModel: Decodable, Sendable {}

        /// A set of values that may grow: values that the document does not list are kept.
        <public>nonisolated protocol OpenEnum: RawRepresentable, Codable, Hashable, Sendable, ParameterValue
        where RawValue: CustomStringConvertible & Sendable {
            /// Makes a value; the document need not list it.
            init(rawValue: RawValue)
        }

        nonisolated extension OpenEnum {
            /// Makes a value; the document need not list it.
            <public>init(_ rawValue: RawValue) {
                self.init(rawValue: rawValue)
            }

            /// The raw value.
            <public>var parameterText: ParameterText { .text(rawValue.description) }
        }

        /// A value that can be null; it is also optional if it can be omitted.
        <public>nonisolated enum Nullable<Value> {
            /// Null.
            case null
            /// A value.
            case value(Value)

            /// Makes a value; nil becomes null.
            <public>init(_ value: Value?) {
                self = value.map(Self.value) ?? .null
            }

            /// The value; nil for null.
            <public>var value: Value? {
                if case .value(let value) = self { value } else { nil }
            }
        }

        nonisolated extension Nullable: Sendable where Value: Sendable {}
        nonisolated extension Nullable: Equatable where Value: Equatable {}
        nonisolated extension Nullable: Hashable where Value: Hashable {}

        nonisolated extension Nullable: Encodable where Value: Encodable {
            /// Writes the value or null.
            <public>func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                if let value { try container.encode(value) } else { try container.encodeNil() }
            }
        }

        nonisolated extension Nullable: Decodable where Value: Decodable {
            /// Reads a value or null.
            <public>init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                self = container.decodeNil() ? .null : .value(try container.decode(Value.self))
            }
        }

        nonisolated extension KeyedDecodingContainer {
            /// Reads null as null; the standard function reads it as a missing member.
            <shared>func decodeIfPresent<Value: Decodable>(
                _ type: Nullable<Value>.Type,
                forKey key: Key
            ) throws -> Nullable<Value>? {
                contains(key) ? try decode(type, forKey: key) : nil
            }

            /// Reads null as null; the standard function reads it as a missing member.
            <shared>func decodeIfPresent(_ type: JSONValue.Type, forKey key: Key) throws -> JSONValue? {
                // Without the type, `nil` would be the literal of JSONValue.null.
                contains(key) ? try decode(type, forKey: key) : JSONValue?.none
            }
        }

        /// Stores a value out of line, for a model that contains itself.
        @dynamicMemberLookup
        <public>nonisolated indirect enum Indirect<Value> {
            /// The value.
            case value(Value)

            /// Wraps a value.
            <public>init(_ value: Value) {
                self = .value(value)
            }

            /// The value.
            <public>var value: Value {
                switch self {
                case .value(let value): value
                }
            }

            /// A property of the value.
            <public>subscript<Property>(dynamicMember property: KeyPath<Value, Property>) -> Property {
                value[keyPath: property]
            }
        }

        nonisolated extension Indirect: Sendable where Value: Sendable {}
        nonisolated extension Indirect: Equatable where Value: Equatable {}
        nonisolated extension Indirect: Hashable where Value: Hashable {}

        nonisolated extension Indirect: Encodable where Value: Encodable {
            /// Writes the value.
            <public>func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
        }

        nonisolated extension Indirect: Decodable where Value: Decodable {
            /// Reads the value.
            <public>init(from decoder: any Decoder) throws { self = .value(try Value(from: decoder)) }
        }

        /// The name of any member.
        <public>nonisolated struct AnyKey: CodingKey {
            /// The name.
            <public>let stringValue: String

            /// Nil.
            <public>var intValue: Int? { nil }

            /// Makes a name.
            <public>init(stringValue: String) { self.stringValue = stringValue }

            /// Makes a name from a number.
            <public>init(intValue: Int) { stringValue = String(intValue) }
        }

        nonisolated extension Decoder {
            /// The text of the member that distinguishes alternatives; nil if it is missing.
            <shared>func tag(_ name: String) -> String? {
                guard let object = try? container(keyedBy: AnyKey.self) else { return nil }
                let key = AnyKey(stringValue: name)
                if let text = try? object.decode(String.self, forKey: key) { return text }
                if let number = try? object.decode(Int.self, forKey: key) { return String(number) }
                return (try? object.decode(Bool.self, forKey: key)).map { $0 ? "true" : "false" }
            }

            /// Whether this is an object with all of these members.
            <shared>func has(_ names: String...) -> Bool {
                guard let object = try? container(keyedBy: AnyKey.self) else { return false }
                return names.allSatisfy { object.contains(AnyKey(stringValue: $0)) }
            }

            /// The members that a model has no property for.
            <shared>func additional<Value: Decodable>(besides names: Set<String>) throws -> [String: Value] {
                let object = try container(keyedBy: AnyKey.self)
                var values: [String: Value] = [:]
                for key in object.allKeys where !names.contains(key.stringValue) {
                    values[key.stringValue] = try object.decode(Value.self, forKey: key)
                }
                return values
            }
        }

        nonisolated extension Encoder {
            /// Writes the members that a model has no property for.
            <shared>func encode(additional values: [String: some Encodable]) throws {
                var object = container(keyedBy: AnyKey.self)
                for (key, value) in values { try object.encode(value, forKey: AnyKey(stringValue: key)) }
            }
        }
        """

    static let dates = """
        /// A value that is a string in JSON.
        <public>nonisolated protocol TextValue: Codable, Hashable, Sendable, CustomStringConvertible {
            /// Parses a text; nil if the text is not a value of this type.
            init?(_ text: String)
        }

        nonisolated extension TextValue {
            /// Reads a text.
            <public>init(from decoder: any Decoder) throws {
                try self.init(textFrom: decoder)
            }

            fileprivate init(textFrom decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                let text = try container.decode(String.self)
                guard let value = Self(text) else {
                    let problem = "\\(text) is not a \\(Self.self)"
                    throw DecodingError.dataCorruptedError(in: container, debugDescription: problem)
                }
                self = value
            }

            /// Writes the text.
            <public>func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(description)
            }
        }

        /// A point in time in the format of RFC 3339, with or without a fraction of a second.
        <public>nonisolated struct DateTime: TextValue, Comparable, ParameterValue {
            private static let decoder = JSONCoding(dates: .iso8601).makeDecoder()

            /// The date.
            <public>var date: Date

            /// Wraps a date.
            <public>init(_ date: Date) {
                self.date = date
            }

            /// Parses a text; nil if the text is not a date of RFC 3339.
            <public>init?(_ text: String) {
                // A text of visible characters without a backslash is the same in JSON.
                guard text.utf8.allSatisfy({ 0x20...0x7E ~= $0 && $0 != 0x5C }),
                    let date = try? Self.decoder.decode(Date.self, from: Data("\\"\\(text)\\"".utf8))
                else { return nil }
                self.date = date
            }

            /// The text in UTC, rounded to microseconds, with no, three or six digits after the second.
            <public>var description: String {
                // The double for a time is often slightly too small, so the digits are not those of a truncation.
                let exact = (date.timeIntervalSince1970 * 1_000_000).rounded()
                guard let microseconds = Int64(exactly: exact) else { return date.formatted(.iso8601) }
                let fraction = (microseconds % 1_000_000 + 1_000_000) % 1_000_000
                let seconds = Double((microseconds - fraction) / 1_000_000)
                var text = Date(timeIntervalSince1970: seconds).formatted(.iso8601)
                if -62_167_219_200 ..< -12_219_292_800 ~= seconds {
                    // Foundation writes dates before 1582 in the Julian calendar. The Gregorian calendar repeats itself
                    // after 400 years, so the text is that of a date 1,600 years later, with another year.
                    text = Date(timeIntervalSince1970: seconds + 50_491_123_200).formatted(.iso8601)
                    let year = 10_000 + (Int(text.prefix(4)) ?? 0) - 1_600
                    text = "\\(String(year).dropFirst())\\(text.dropFirst(4))"
                }
                guard fraction > 0 else { return text }
                let digits = String(1_000_000 + fraction).dropFirst()
                return "\\(text.dropLast()).\\(digits.hasSuffix("000") ? digits.dropLast(3) : digits)Z"
            }

            /// Compares the dates.
            <public>static func < (left: Self, right: Self) -> Bool { left.date < right.date }
        }

        /// A decimal number that is a string in JSON.
        <public>nonisolated struct DecimalText: TextValue, ParameterValue {
            /// The number.
            <public>var value: Decimal

            /// Wraps a number.
            <public>init(_ value: Decimal) {
                self.value = value
            }

            /// Parses a text; nil if the text is not a number.
            <public>init?(_ text: String) {
                // `Decimal(string:)` ignores the rest of a text that only starts with a number.
                guard text.wholeMatch(of: #/[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?/#) != nil,
                    let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
                else { return nil }
                self.value = value
            }

            /// Reads a text, or a number from a backend that writes one.
            <public>init(from decoder: any Decoder) throws {
                if let number = try? decoder.singleValueContainer().decode(Decimal.self) {
                    self.init(number)
                } else {
                    try self.init(textFrom: decoder)
                }
            }

            /// The text.
            <public>var description: String { value.description }
        }

        /// A day of the calendar, without a time, such as `2026-02-28`.
        <public>nonisolated struct Day: TextValue, Comparable, ParameterValue {
            /// The year.
            <public>let year: Int

            /// The month, from 1 to 12.
            <public>let month: Int

            /// The day, from 1 to 31.
            <public>let day: Int

            /// Makes a day; nil if the calendar does not have it.
            <public>init?(year: Int, month: Int, day: Int) {
                guard 0...9999 ~= year, 1...12 ~= month, day >= 1 else { return nil }
                let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
                let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
                guard day <= lengths[month - 1] else { return nil }
                self.year = year
                self.month = month
                self.day = day
            }

            /// Parses a text; nil if the text is not a day.
            <public>init?(_ text: String) {
                let parts = text.split(separator: "-").compactMap { Int($0) }
                guard parts.count == 3, let day = Day(year: parts[0], month: parts[1], day: parts[2]),
                    day.description == text
                else { return nil }
                self = day
            }

            /// The text.
            <public>var description: String {
                func padded(_ number: Int, _ count: Int) -> String {
                    String(repeating: "0", count: count - String(number).count) + String(number)
                }
                return "\\(padded(year, 4))-\\(padded(month, 2))-\\(padded(day, 2))"
            }

            /// Compares the days.
            <public>static func < (left: Self, right: Self) -> Bool {
                (left.year, left.month, left.day) < (right.year, right.month, right.day)
            }
        }
        """

    static let forms = """
        /// A value that a multipart form sends as a file, as text or as JSON.
        <public>nonisolated protocol FormValue: Sendable {
            /// The parts of the form with this name.
            func parts(named name: String, as mediaType: String?) -> [MultipartPart]
        }

        /// A file of a multipart form.
        <public>nonisolated struct FormFile: FormValue {
            /// The content, such as `.file(url)` or `.data(bytes)`.
            <public>var body: RequestBody

            /// The file's name; nil leaves it out.
            <public>var fileName: String?

            /// Makes a file.
            <public>init(_ body: RequestBody, fileName: String? = "file") {
                self.body = body
                self.fileName = fileName
            }

            /// The file as a part.
            <public>func parts(named name: String, as mediaType: String?) -> [MultipartPart] {
                var part = MultipartPart(body, name: name, fileName: fileName)
                if let mediaType { part.mediaType = MediaType(mediaType) ?? part.mediaType }
                return [part]
            }
        }

        nonisolated extension FormFile: Codable {
            /// Throws: a file can be part of a form, not of JSON.
            <public>init(from decoder: any Decoder) throws {
                let context = DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "JSON has no files.")
                throw DecodingError.dataCorrupted(context)
            }

            /// Throws: a file can be part of a form, not of JSON.
            <public>func encode(to encoder: any Encoder) throws {
                let context = EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "JSON has no files.")
                throw EncodingError.invalidValue("a file", context)
            }
        }

        /// Collects the parts of a multipart form.
        <shared>nonisolated struct FormParts {
            <shared>private(set) var parts: [MultipartPart] = []

            <shared>init() {}

            <shared>mutating func add(_ name: String, _ value: (some FormValue)?, as mediaType: String? = nil) {
                if let value { parts += value.parts(named: name, as: mediaType) }
            }

            <shared>mutating func add(_ name: String, _ values: [some FormValue]?, as mediaType: String? = nil) {
                for value in values ?? [] { add(name, value, as: mediaType) }
            }

            <shared>mutating func add(text name: String, _ value: (some ParameterValue)?, as mediaType: String? = nil) {
                guard let value else { return }
                let whole = value.parameterText
                let texts: [ParameterText]
                if case .list(let values) = whole { texts = values } else { texts = [whole] }
                for text in texts {
                    var part = textPart(name, text)
                    if let mediaType { part.mediaType = MediaType(mediaType) }
                    parts.append(part)
                }
            }

            private func textPart(_ name: String, _ value: ParameterText) -> MultipartPart {
                switch value {
                case .text(let text): .text(text, name: name)
                case .list, .members: .text("", name: name)
                case .unencodable(let value): .json(value, name: name)
                }
            }

            <shared>mutating func add(json name: String, _ value: (some Encodable & Sendable)?, as mediaType: String? = nil) {
                guard let value else { return }
                parts.append(.json(value, name: name, mediaType: mediaType.flatMap { MediaType($0) } ?? .json))
            }

            /// Adds one part per element.
            <shared>mutating func add(
                jsonElements name: String,
                _ values: [some Encodable & Sendable]?,
                as mediaType: String? = nil
            ) {
                for value in values ?? [] { add(json: name, value, as: mediaType) }
            }
        }
        """
}
