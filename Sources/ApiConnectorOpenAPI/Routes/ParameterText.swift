// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The text of a parameter's value, or the texts of its elements or members.
///
/// The parameter's place and its style in the document decide how the texts are joined and encoded.
public indirect enum ParameterText: Sendable {
    /// One text.
    case text(String)
    /// Several values.
    case list([ParameterText])
    /// Values with names.
    case members([(key: String, value: ParameterText)])
    /// A value that does not encode, with the reason: the call fails with this error.
    case unencodable(any Error)

    /// The elements of a list, each as JSON; nil for nil.
    public static func json(_ values: [some Encodable]?) -> [ParameterText]? {
        values?.map { ParameterText(json: $0) }
    }

    /// A value as JSON.
    init(json value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            self = .text(String(decoding: try encoder.encode(value), as: UTF8.self))
        } catch {
            self = .unencodable(error)
        }
    }

    /// The texts of a list, or the names and values of an object in turn.
    var flat: [String] {
        switch self {
        case .text(let text): [text]
        case .list(let values): values.flatMap(\.flat)
        case .members(let members): members.flatMap { [$0.key] + $0.value.flat }
        case .unencodable: []
        }
    }

    /// The members of an object; nil for another value.
    var pairs: [(key: String, text: String)]? {
        guard case .members(let members) = self else { return nil }
        return members.map { ($0.key, $0.value.flat.joined(separator: ",")) }
    }

    /// The failure of the first value that does not encode; nil without one.
    var failure: UnencodableParameter? {
        switch self {
        case .text: nil
        case .list(let values): values.compactMap(\.failure).first
        case .members(let members): members.compactMap { $0.value.failure }.first
        case .unencodable(let error): UnencodableParameter(error: error)
        }
    }
}

/// Fails a call with the error of a parameter that does not encode.
struct UnencodableParameter: Encodable, Sendable {
    let error: any Error

    /// Throws the error.
    func encode(to encoder: any Encoder) throws { throw error }

    /// The same failure with an error that names the parameter.
    func named(_ parameter: String) -> UnencodableParameter {
        var cause = ApiConnectorError(mapping: error).detail
        if case EncodingError.invalidValue(let value, let context) = error {
            // The value may be a secret.
            cause = "a value of type \(type(of: value)): \(context.debugDescription)"
        }
        if cause.hasSuffix(".") { cause.removeLast() }
        let detail = "\(parameter) does not encode: \(cause)"
        return UnencodableParameter(
            error: ApiConnectorError(.encodingFailed, at: .url, detail, underlying: error)
        )
    }
}

/// A text as one part of a URL.
func percentEncoded(_ text: String) -> String {
    ApiPath(segment: text).description.dropFirst().description
}
