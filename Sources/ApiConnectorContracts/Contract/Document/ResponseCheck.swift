// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Compares one canned response with the operation that it answers.
struct ResponseCheck {
    let document: OpenAPIDocument
    let operation: DocumentedOperation
    private let values: TextValues

    init(_ operation: DocumentedOperation, _ document: OpenAPIDocument) {
        self.operation = operation
        self.document = document
        values = TextValues(checker: document.checker(.response))
    }

    /// The violations of a response.
    ///
    /// - Parameters:
    ///   - status: The response's status.
    ///   - headers: The response's header fields.
    ///   - body: The response's body; nil if it is not known in advance, such as a body that a test feeds.
    func violations(_ status: HTTPStatus, _ headers: HTTPHeaders, _ body: Data?) -> [ContractViolation] {
        let statuses = (operation.node["responses"]?.members ?? []).map(\.key)
        // An operation may omit its responses. The document then allows each response.
        if statuses.isEmpty { return [] }
        guard let response = operation.response(status) else {
            let list = statuses.joined(separator: ", ")
            let sentence = "the status is \(status.rawValue), but the document has \(list)"
            return [ContractViolation(.response, operation.node.pointer + "/responses", sentence)]
        }
        var found = checkHeaders(headers, response)
        guard let body, operation.method != .head, status != 204, status != 304 else { return found }
        let type = headers[.contentType].flatMap { MediaType($0) }
        if body.isEmpty {
            guard let content = response["content"], !content.members.isEmpty else { return found }
            if type == nil || type?.canBeEmpty == false {
                let isAllowed = type == nil && content.members.contains { MediaType($0.key)?.canBeEmpty == true }
                if status.isSuccess, !isAllowed {
                    let sentence = "it is empty, but the document defines one"
                    found.append(ContractViolation(.responseBody, content.pointer, sentence))
                }
                return found
            }
        }
        return found
            + BodyCheck(part: .responseBody, values: values, isCompressed: headers.haveContentCoding)
            .violations(of: body, type, in: response)
    }

    private func checkHeaders(_ headers: HTTPHeaders, _ response: JSONNode) -> [ContractViolation] {
        (response["headers"]?.members ?? []).flatMap { name, node -> [ContractViolation] in
            guard let node = node.resolved, name.lowercased() != "content-type" else { return [] }
            let parameter = DocumentedParameter(node, name: name, in: .header)
            guard let text = headers.joined(name) else {
                guard parameter.isRequired else { return [] }
                return [ContractViolation(parameter.subject, node.pointer, "it is required, but missing")]
            }
            guard let schema = parameter.schema else { return [] }
            let value = ParameterReader(parameter: parameter, values: values).value(of: text, isEncoded: false)
            var checker = values.checker
            checker.hidesValues = parameter.isSecret
            return checker.violations(of: value, against: schema).map {
                ContractViolation(parameter.subject, $0)
            }
        }
    }
}
