// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// One row of a table: a value, how it is written, and why so.
struct FormRow: Sendable, CustomTestStringConvertible {
    let value: any Encodable & Sendable
    let encoding: FormEncoding
    let text: String
    let reason: String

    init(_ value: any Encodable & Sendable, _ text: String, as encoding: FormEncoding = .standard, _ reason: String) {
        self.value = value
        self.encoding = encoding
        self.text = text
        self.reason = reason
    }

    var testDescription: String { reason }

    /// The body's bytes as text.
    var body: String {
        get throws {
            String(decoding: try RequestBody.form(value, as: encoding).data(), as: UTF8.self)
        }
    }
}

/// A value under one name.
struct Field<Value: Encodable & Sendable>: Encodable, Sendable {
    let a: Value

    init(_ a: Value) {
        self.a = a
    }
}

struct Pair: Encodable, Hashable {
    var b: Int?
    var c: String?
}

/// Declared in another order than the alphabet's.
struct Filter: Encodable {
    enum Sorting: String, Encodable { case newest, byName = "by name" }

    var text = "pug & cat"
    var sort = Sorting.byName
    var limit: Int? = 20
    var after: Int?
    var isOpen = true
}
