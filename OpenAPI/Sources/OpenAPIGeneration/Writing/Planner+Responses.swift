// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Decides which values calls return, and which errors routers have.

extension Planner {
    struct CallValue {
        var value: FunctionPlan.Value
        var isStream = false
        var accept: String?
        var isRaw: Bool {
            switch value {
            case .text, .bytes: true
            case .none, .value: false
            }
        }
    }

    func values(
        of operation: Operation,
        _ base: String,
        _ router: RouterPlan
    ) throws(DocumentError) -> [CallValue] {
        var responses = operation.responses.filter(\.isSuccess)
        let hasRedirect = operation.responses.contains(where: \.isRedirect)
        if responses.isEmpty, !hasRedirect { responses = operation.responses.filter { $0.status == "default" } }
        if operation.method == "head" { return [CallValue(value: .none)] }
        var json: [OptionalType] = []
        var streams: [CallValue] = []
        var raw: [(mediaType: String, isText: Bool)] = []
        var accept: String?
        let isEmptyToo = responses.contains { $0.contents.isEmpty }
        for response in responses {
            var hasJSON = false
            for content in response.contents {
                switch content.kind {
                case .json:
                    if hasJSON {
                        warnings.add(content.node, "the response can also be \(content.mediaType), which is not read")
                        continue
                    }
                    hasJSON = true
                    if json.isEmpty, !["application/json", "*/*"].contains(content.mediaType) {
                        accept = content.mediaType
                    }
                    json.append(try type(of: content, base, "Response", router))
                case .events, .lines, .sequence:
                    if !streams.isEmpty {
                        warnings.add(content.node, "the response can also be \(content.mediaType), which is not read")
                        continue
                    }
                    let isEvents = content.kind == .events
                    let type =
                        isEvents
                        ? try eventType(of: content, base, router) : try type(of: content, base, "Event", router)
                    streams.append(CallValue(value: .value(type), isStream: true, accept: content.mediaType))
                case .text, .binary, .form, .multipart:
                    try warnOfUnusedSchema(content)
                    raw.append((content.mediaType, content.kind == .text))
                }
            }
        }
        var values: [CallValue] = []
        if let type = oneType(json, base, router, operation) {
            var type = type
            if isEmptyToo { type.isNullable = true }
            values.append(CallValue(value: .value(type), accept: accept))
        }
        // By default, a stream's Accept field also lists JSON. If the operation has a JSON response, its value may
        // differ from the stream's elements. The stream then accepts only its own media type.
        if json.isEmpty { for index in streams.indices { streams[index].accept = nil } }
        values += streams
        if !raw.isEmpty {
            // All types share one route. The caller gets a string or bytes, and the response names its media type.
            var known: Set<String> = []
            let types = raw.map(\.mediaType).filter { !$0.contains("*") && known.insert($0).inserted }
            let isText = raw.allSatisfy(\.isText)
            let accept = types.isEmpty ? nil : types.joined(separator: ", ")
            values.append(CallValue(value: isText ? .text : .bytes, accept: accept))
        }
        if values.isEmpty, responses.isEmpty, hasRedirect { return [CallValue(value: .bytes)] }
        return values.isEmpty ? [CallValue(value: .none)] : values
    }

    /// The type of the values in a stream of server-sent events.
    ///
    /// - If an `itemSchema` describes an event with the member `data`, and `data` has a `contentSchema`, the values
    ///   have the type of this schema.
    /// - An `itemSchema` without the member `data` describes the JSON in the data. A `schema` also describes this JSON.
    /// - If the data is a text, the values are the events.
    private func eventType(
        of content: Content,
        _ base: String,
        _ router: RouterPlan
    ) throws(DocumentError) -> OptionalType {
        guard let schema = content.schema else { return OptionalType(type: .json) }
        var json = schema
        if content.node["itemSchema"] != nil {
            let event = try specification.documents.resolved(schema)
            let data = try data(of: event)
            if let content = data?["contentSchema"] {
                return try schemas.type(of: content, at: place(of: content, base, "Event", router))
            }
            for alternative in ["allOf", "oneOf", "anyOf"].flatMap({ event[$0]?.elements ?? [] }) {
                guard try self.data(of: specification.documents.resolved(alternative)) != nil else { continue }
                warnings.add(event, "the data of these events differs, so it is not decoded; the values are the events")
                return OptionalType(type: .event)
            }
            let mediaType = data?["contentMediaType"]?.string
            if let mediaType, ContentKind(mediaType) == .json { return OptionalType(type: .json) }
            json = event["properties"]?["data"] ?? schema
        }
        let target = try specification.documents.resolved(json)
        let isText = schemas.types(of: target).filter { $0 != "null" } == ["string"]
        if isText { return OptionalType(type: .event) }
        return try schemas.type(of: json, at: place(of: json, base, "Event", router))
    }

    /// The schema of an event's member `data`; nil if it is missing.
    private func data(of event: Node) throws(DocumentError) -> Node? {
        try event["properties"]?["data"].map { (data) throws(DocumentError) in
            try specification.documents.resolved(data)
        }
    }

    private func type(
        of content: Content,
        _ base: String,
        _ suffix: String,
        _ router: RouterPlan
    ) throws(DocumentError) -> OptionalType {
        guard let schema = content.schema else { return OptionalType(type: .json) }
        return try schemas.type(of: schema, at: place(of: schema, base, suffix, router))
    }

    /// The type of all successful responses.
    private func oneType(
        _ types: [OptionalType],
        _ base: String,
        _ router: RouterPlan,
        _ operation: Operation
    ) -> OptionalType? {
        guard let first = types.first else { return nil }
        if types.count == 1 { return first }
        let declaration = Declaration(operation.node, named: base + "Result", in: nil)
        declaration.owner = router.name
        let type = schemas.union(types, hints: types.map(\.type.caseName), of: operation.node, into: declaration)
        if type.type.isDeclared(as: declaration) { schemas.add(declaration) }
        return type
    }

    func addFailures(of operation: Operation, _ base: String, _ router: RouterPlan) throws(DocumentError) {
        let hasSuccess = operation.responses.contains { $0.isSuccess || $0.isRedirect }
        for response in operation.responses {
            if response.isRedirect || response.isInformation {
                for content in response.contents {
                    warnings.add(content.node, "the body of a \(response.status) response is not decoded")
                }
                continue
            }
            if response.isSuccess { continue }
            if response.status == "default", !hasSuccess { continue }
            let json = response.contents.filter { $0.kind == .json }
            for content in response.contents where content.kind != .json {
                warnings.add(
                    content.node,
                    "an error of type \(content.mediaType) is not decoded; the call's error has its text"
                )
            }
            for content in json.dropFirst() {
                warnings.add(content.node, "the error can also be \(content.mediaType), which is not read")
            }
            guard let content = json.first, content.schema != nil else { continue }
            let type = try type(of: content, base, "Failure", router).type
            router.failures.append((type, content.node))
        }
    }

    /// Warns of errors that cannot be distinguished by their members.
    ///
    /// For such errors, the first type that matches is used.
    private func warnOfEqualFailures(_ router: RouterPlan) {
        var seen: [Set<String>: String] = [:]
        for (type, node) in router.failures {
            var required: Set<String> = []
            switch type {
            case .dictionary: break
            case .declared(let declared):
                guard let structure = declared.structure else { continue }
                required = Set(structure.properties.filter(\.isRequired).map(\.key))
            default: continue
            }
            if let other = seen[required], other != type.identity {
                warnings.add(
                    node,
                    "no required member distinguishes this error from another of the router; the first match is used"
                )
            } else {
                seen[required] = type.identity
            }
        }
    }

    func makeFailure(of router: RouterPlan) {
        guard !router.failures.isEmpty else { return }
        let name = router.name.hasSuffix("Router") ? String(router.name.dropLast(6)) : router.name
        let declaration = Declaration(specification.root, named: name + "Failure", in: nil)
        declaration.owner = router.name
        declaration.documentation = "An error that the backend reports."
        warnOfEqualFailures(router)
        let closed = schemas.failure(of: router.failures.map(\.type), into: declaration)
        router.failure = closed
    }
}
