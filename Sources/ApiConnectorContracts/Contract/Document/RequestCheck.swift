// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// Compares one request with its operation.
struct RequestCheck {
    let document: OpenAPIDocument
    let operation: DocumentedOperation
    let sent: RecordedRequest
    private let values: TextValues

    init(_ sent: RecordedRequest, _ operation: DocumentedOperation, _ document: OpenAPIDocument) {
        self.sent = sent
        self.operation = operation
        self.document = document
        values = TextValues(checker: document.checker(.request))
    }

    /// The violations of the request.
    func violations(pathValues: [String: String]) -> [ContractViolation] {
        let parameters = operation.parameters.filter { !$0.isIgnored }
        let cookies = self.cookies
        var items = ParameterReader.Item.all(
            in: URLComponents(url: sent.url, resolvingAgainstBaseURL: false)?.percentEncodedQuery ?? ""
        )
        items.removeAll { operation.template.fixedItems.contains($0) }
        var found: [ContractViolation] = []
        // Exploded objects come last, because they take all items that no other parameter has taken.
        let isLast = { (parameter: DocumentedParameter) in
            parameter.style == .form && parameter.explodes
                && values.describes("object", "properties", parameter.schema)
        }
        for parameter in parameters.filter({ !isLast($0) }) + parameters.filter(isLast) {
            switch parameter.place {
            case .path: found += check(parameter, pathValues[parameter.name], isEncoded: true)
            case .header: found += check(parameter, sent.headers.joined(parameter.name), isEncoded: false)
            case .cookie: found += check(parameter, cookies[parameter.name], isEncoded: true)
            case .query: found += checkQuery(parameter, &items)
            case .querystring: items = []
            }
        }
        for item in items where !operation.credentialNames.contains(item.name) {
            let subject = "the query item \"\(item.name)\""
            found.append(ContractViolation(subject, operation.node.pointer, "the operation has no such parameter"))
        }
        return found + bodyViolations()
    }

    // MARK: - Parameters

    private func check(_ parameter: DocumentedParameter, _ text: String?, isEncoded: Bool) -> [ContractViolation] {
        guard let text else { return missing(parameter) }
        if let content = parameter.content {
            return check(parameter, isEncoded ? text.removingPercentEncoding ?? text : text, as: content)
        }
        let isObject = values.describes("object", "properties", parameter.schema)
        if parameter.place == .path, let flaw = parameter.flaw(ofPathValue: text, isObject: isObject) {
            return [ContractViolation(parameter.subject, parameter.node.pointer, flaw)]
        }
        let value = ParameterReader(parameter: parameter, values: values).value(of: text, isEncoded: isEncoded)
        return check(parameter, value)
    }

    private func checkQuery(
        _ parameter: DocumentedParameter,
        _ items: inout [ParameterReader.Item]
    ) -> [ContractViolation] {
        if let content = parameter.content {
            guard let item = items.first(where: { $0.name == parameter.name }) else { return missing(parameter) }
            items.removeAll { $0.name == parameter.name }
            return check(parameter, item.text, as: content)
        }
        let own = items.filter { $0.name == parameter.name }
        if parameter.node.isTrue("allowEmptyValue"), !own.isEmpty, own.allSatisfy({ $0.raw.isEmpty }) {
            items.removeAll { $0.name == parameter.name }
            return []
        }
        if let flaw = parameter.flaw(ofItemCount: own.count) {
            items.removeAll { $0.name == parameter.name }
            return [ContractViolation(parameter.subject, parameter.node.pointer, flaw)]
        }
        guard let value = ParameterReader(parameter: parameter, values: values).value(takingFrom: &items) else {
            return missing(parameter)
        }
        return check(parameter, value)
    }

    private func missing(_ parameter: DocumentedParameter) -> [ContractViolation] {
        guard parameter.isRequired else { return [] }
        return [ContractViolation(parameter.subject, parameter.node.pointer, "it is required, but missing")]
    }

    private func check(_ parameter: DocumentedParameter, _ value: JSONValue) -> [ContractViolation] {
        guard let schema = parameter.schema else { return [] }
        return checker(of: parameter).violations(of: value, against: schema).map {
            ContractViolation(parameter.subject, $0)
        }
    }

    private func checker(of parameter: DocumentedParameter) -> SchemaChecker {
        var checker = values.checker
        checker.hidesValues = parameter.isSecret
        return checker
    }

    private func check(
        _ parameter: DocumentedParameter,
        _ text: String,
        as content: (key: String, schema: JSONNode?)
    ) -> [ContractViolation] {
        guard MediaType(content.key)?.isJSON == true else { return [] }
        guard let value = JSONValue(parsing: Data(text.utf8)) else {
            return [ContractViolation(parameter.subject, parameter.node.pointer, "it is not JSON")]
        }
        guard let schema = content.schema else { return [] }
        return checker(of: parameter).violations(of: value, against: schema).map {
            ContractViolation(parameter.subject, $0)
        }
    }

    private var cookies: [String: String] {
        let pairs = sent.headers.values(.cookie).flatMap { $0.split(separator: ";") }.map { pair in
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = halves[0].trimmingCharacters(in: .whitespaces)
            return (name, halves.count > 1 ? halves[1].trimmingCharacters(in: .whitespaces) : "")
        }
        return Dictionary(pairs) { first, _ in first }
    }

    // MARK: - The body

    private func bodyViolations() -> [ContractViolation] {
        guard let body = operation.node["requestBody"]?.resolved else {
            guard !sent.body.isEmpty else { return [] }
            return [ContractViolation(.requestBody, operation.node.pointer, "the operation has no request body")]
        }
        if sent.body.isEmpty, sent.mediaType?.canBeEmpty != true {
            guard body.isTrue("required") else { return [] }
            return [ContractViolation(.requestBody, body.pointer, "it is required, but missing")]
        }
        return BodyCheck(part: .requestBody, values: values, isCompressed: sent.headers.haveContentCoding).violations(
            of: sent.body,
            sent.mediaType,
            in: body,
            parts: sent.parts
        )
    }
}

extension HTTPHeaders {
    /// The values of all fields of a name as one value (RFC 9110, section 5.3); nil if there is no such field.
    ///
    /// Of several `Set-Cookie` fields, which cannot be joined, it is the first value.
    func joined(_ text: String) -> String? {
        let name = Name(text)
        let values = values(name)
        if values.isEmpty { return nil }
        return name == .setCookie ? values[0] : values.joined(separator: ", ")
    }

    /// Whether the body has a content coding, such as gzip.
    var haveContentCoding: Bool {
        let codings = values(.contentEncoding).flatMap { $0.split(separator: ",") }
        return codings.contains { $0.trimmingCharacters(in: .whitespaces).lowercased() != "identity" }
    }
}

extension MediaType {
    /// Whether an empty body can have this type: an empty text, an empty stream or an empty file.
    var canBeEmpty: Bool {
        !isDocumentedJSON && subtype != "xml" && !subtype.hasSuffix("+xml") && type != "multipart"
    }
}
