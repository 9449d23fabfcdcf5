// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A value that a form writes as one text.
protocol FormScalar {
    func formText(as encoding: FormEncoding) throws(FormRefusal) -> String
}

/// Why a value cannot be written, with its type and its coding path.
///
/// `EncodingError` is not used, because it contains the value. The value may be a secret, and printing a date that is
/// NaN crashes in Foundation.
struct FormRefusal: Error {
    let reason: String
    var typeName: String?
    var path: [any CodingKey] = []

    init(_ reason: String) {
        self.reason = reason
    }

    /// The same refusal with its place.
    func at(_ path: [any CodingKey], of value: Any? = nil) -> FormRefusal {
        var refusal = self
        refusal.typeName = value.map { String(describing: type(of: $0)) }
        refusal.path = path
        return refusal
    }
}

extension String: FormScalar {
    func formText(as encoding: FormEncoding) throws(FormRefusal) -> String { self }
}

extension Bool: FormScalar {
    func formText(as encoding: FormEncoding) throws(FormRefusal) -> String {
        self ? encoding.booleans.yes : encoding.booleans.no
    }
}

extension Date: FormScalar {
    func formText(as encoding: FormEncoding) throws(FormRefusal) -> String { try encoding.dates.text(self) }
}

extension Data: FormScalar {
    func formText(as encoding: FormEncoding) throws(FormRefusal) -> String { encoding.data.text(self) }
}

extension URL: FormScalar {
    func formText(as encoding: FormEncoding) throws(FormRefusal) -> String { absoluteString }
}

extension Decimal: FormScalar {
    func formText(as encoding: FormEncoding) throws(FormRefusal) -> String {
        guard isFinite else { throw .notFinite }
        return description
    }
}

extension FixedWidthInteger {
    func formText(as encoding: FormEncoding) throws(FormRefusal) -> String { String(self) }
}

extension Int: FormScalar {}
extension Int8: FormScalar {}
extension Int16: FormScalar {}
extension Int32: FormScalar {}
extension Int64: FormScalar {}
extension Int128: FormScalar {}
extension UInt: FormScalar {}
extension UInt8: FormScalar {}
extension UInt16: FormScalar {}
extension UInt32: FormScalar {}
extension UInt64: FormScalar {}
extension UInt128: FormScalar {}

extension BinaryFloatingPoint where Self: CustomStringConvertible {
    func formText(as encoding: FormEncoding) throws(FormRefusal) -> String { try formText() }

    /// The shortest text that reads back as this number; a whole number has no fraction, as in JSON.
    func formText() throws(FormRefusal) -> String {
        guard isFinite else { throw .notFinite }
        let text = description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension Double: FormScalar {}
extension Float: FormScalar {}

extension FormRefusal {
    fileprivate static let notFinite = FormRefusal("it is not a finite number, which a form cannot represent")
}
