// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Writes routers and the functions that make their calls.
struct RouterWriter {
    let configuration: Configuration
    let apiName: String
    /// Whether the document has security schemes.
    let hasSecurity: Bool
    /// The security of operations that do not declare their own.
    let defaultSecurity: [[String]]

    private var access: String {
        configuration.access == .internal ? "" : configuration.access.rawValue + " "
    }

    /// The router's type.
    func write(_ router: RouterPlan, to writer: inout SourceWriter) {
        writer.summary(router.documentation)
        writer.block("\(access)struct \(router.name): OperationRouter") { writer in
            if !access.isEmpty { writer.line("/// The server of the backend.") }
            writer.line("\(access)typealias EnvironmentType = \(apiName)Server")
            if let failure = router.failure {
                if !access.isEmpty { writer.line("/// The format of the backend's errors.") }
                writer.line("\(access)typealias EnvelopeType = BareEnvelope<\(failure.code)>")
            }
            writer.blank()
            writer.line("/// The request.")
            writer.line("\(access)let parts: RouteParts")
            writer.blank()
            writer.line("/// Makes a route from a request.")
            writer.block("\(access)init(parts: RouteParts)") { $0.line("self.parts = parts") }
        }
    }

    /// The functions, in extensions of the call and of the router.
    func write(_ functions: [FunctionPlan], of router: RouterPlan, to writer: inout SourceWriter) {
        let calls = functions.filter { !$0.isRoute }
        let routes = functions.filter(\.isRoute)
        if !calls.isEmpty {
            writer.blank()
            writer.block("nonisolated extension ApiCall where Router == \(router.name)") { writer in
                for function in calls { write(function, router, &writer) }
            }
        }
        if !routes.isEmpty {
            writer.blank()
            writer.block("nonisolated extension \(router.name)") { writer in
                for function in routes { write(function, router, &writer) }
            }
        }
        writePages(functions, of: router, to: &writer)
    }

    /// Writes the static properties of `NextPage`, which callers pass to `pages(from:next:)`.
    private func writePages(_ functions: [FunctionPlan], of router: RouterPlan, to writer: inout SourceWriter) {
        var names: Set<String> = []
        for function in functions {
            guard let pages = function.pages, case .value(let type) = function.value, names.insert(pages.name).inserted
            else { continue }
            writer.blank()
            writer.block("nonisolated extension NextPage where Router == \(router.name), Page == \(type.code)") {
                writer in
                writer.documentation("The page that follows a page of `\(function.name)`.")
                writer.block("\(access)static var \(Identifier.escaped(pages.name)): NextPage") { writer in
                    writer.line("\(pages.head) { \(pages.closure) }")
                }
            }
        }
    }

    private func write(_ function: FunctionPlan, _ router: RouterPlan, _ writer: inout SourceWriter) {
        writer.blank()
        document(function, &writer)
        if function.operation.isDeprecated { writer.line("@available(*, deprecated)") }
        let parameters = function.arguments.map { argument in
            let type = argumentCode(argument)
            return SourceWriter.Argument.text(
                "\(Identifier.escaped(argument.name)): \(type)\(argument.isOptional ? "? = nil" : "")"
            )
        }
        let name = Identifier.escaped(function.name)
        writer.call("\(access)static func \(name)", parameters, " -> \(returned(function)) {")
        writer.indented { write(call: function, &$0) }
        writer.line("}")
    }

    func returned(_ function: FunctionPlan) -> String {
        switch function.value {
        case .none: "ApiCall<Router, Void>"
        case .value(let type): "ApiCall<Router, \(type.code)>"
        case .text, .bytes: "Self"
        }
    }

    func argumentCode(_ argument: FunctionPlan.Argument) -> String {
        switch argument.location {
        case .body(.binary, _), .body(.lines, _), .body(.sequence, _), .body(.events, _): "RequestBody"
        case .body(.multipart, _): argument.type.isJSON ? "[MultipartPart]" : argument.type.code
        case .body: argument.type.code
        case .parameter(let parameter):
            parameter.isJSON || isListAsJSON(argument.type, parameter)
                ? argument.type.code : Self.parameterCode(argument.type)
        }
    }

    /// The type of a parameter as code.
    ///
    /// Dates have the type `Date`, because no coder's settings apply to parameters.
    private static func parameterCode(_ type: TypeUse) -> String {
        switch type {
        case .dateTime: "Date"
        case .binary: "String"
        case .array(let element): "[\(parameterCode(element.type))\(element.isNullable ? "?" : "")]"
        case .dictionary(let value): "[String: \(parameterCode(value.type))\(value.isNullable ? "?" : "")]"
        default: type.code
        }
    }

    private func document(_ function: FunctionPlan, _ writer: inout SourceWriter) {
        let operation = function.operation
        guard configuration.documentation != .none || !access.isEmpty else { return }
        writer.summary(operation.summary ?? "`\(PlainText.line(operation.title))`.")
        let described = function.arguments.filter { $0.documentation != nil }
        if configuration.documentation == .summary, !described.isEmpty {
            writer.line("///")
            if described.count == 1, let only = described.first, let text = only.documentation {
                writer.documentation(text, first: "- Parameter \(only.name): ", next: "  ")
            } else {
                writer.line("/// - Parameters:")
                for argument in described {
                    writer.documentation(argument.documentation, first: "  - \(argument.name): ", next: "    ")
                }
            }
        }
    }

    // MARK: - The call

    private func write(call function: FunctionPlan, _ writer: inout SourceWriter) {
        let operation = function.operation
        var arguments: [SourceWriter.Argument] = [.text(method(operation.method)), .text(path(function))]
        // The value of a template such as `?q={q}` comes from a parameter.
        let fixed = PathTemplate(operation.path).query.filter { !$0.value.hasPrefix("{") }.map {
            ".form(\(PlainText.literal($0.name)), \(PlainText.literal($0.value)))"
        }
        let query = fixed + function.arguments.compactMap { queryPart($0) }
        if !query.isEmpty { arguments.append(.list("query: ", query)) }
        var headers = function.arguments.compactMap { headerPart($0) }
        if let accept = function.accept, !accept.contains("*") {
            headers.append(".field(\"Accept\", \(PlainText.literal(accept)))")
        }
        for argument in function.arguments {
            guard case .body(let kind, let mediaType) = argument.location, let type = Self.fixedType(kind, mediaType)
            else { continue }
            // If the body is missing, there is no media type.
            let text = PlainText.literal(type)
            let value = argument.isOptional ? "\(Identifier.escaped(argument.name)).map { _ in \(text) }" : text
            headers.append(".field(\"Content-Type\", \(value))")
        }
        if !headers.isEmpty { arguments.append(.list("headers: ", headers)) }
        if let body = function.arguments.compactMap({ bodyCode($0) }).first { arguments.append(.text("body: " + body)) }
        if hasSecurity, let security = operation.security, security != defaultSecurity {
            arguments.append(.list("security: ", security.map(Self.requirement)))
        }
        writer.call(function.isRoute ? "Self" : ".init", arguments)
    }

    /// The schemes of one alternative, as code.
    static func requirement(_ schemes: [String]) -> String {
        "[" + schemes.map(PlainText.literal).joined(separator: ", ") + "]"
    }

    /// The media type of a body whose bytes the caller passes; nil if the caller's body has its own media type.
    private static func fixedType(_ kind: ContentKind, _ mediaType: String) -> String? {
        let isBytes = kind == .binary || kind.isStream
        return isBytes && !mediaType.contains("*") && mediaType != "application/octet-stream" ? mediaType : nil
    }

    private func method(_ name: String) -> String {
        SpecificationReader.methods.contains(name) ? "." + name : "HTTPMethod(rawValue: \(PlainText.literal(name)))"
    }

    private func path(_ function: FunctionPlan) -> String {
        var code = "\""
        for part in PathTemplate(function.operation.path).parts {
            switch part {
            case .text(let text):
                let literal = PlainText.literalContent(text)
                // The literal parts of a path are not yet percent-encoded.
                code += text.contains("%") ? "\\(ApiPath(alreadyEncoded: \"\(literal)\"))" : literal
            case .name(let name):
                let argument = function.arguments.first {
                    if case .parameter(let parameter) = $0.location {
                        return parameter.location == .path && parameter.name == name
                    }
                    return false
                }
                if let argument { code += pathPart(argument) }
            }
        }
        return code + "\""
    }

    /// The value of a parameter as code.
    private func value(of argument: FunctionPlan.Argument, _ parameter: Parameter) -> String {
        let name = Identifier.escaped(argument.name)
        return isListAsJSON(argument.type, parameter) ? "ParameterText.json(\(name))" : name
    }

    /// Whether the parameter is a list whose elements are sent as JSON, because no style defines how to send objects.
    private func isListAsJSON(_ type: TypeUse, _ parameter: Parameter) -> Bool {
        type.isListOfObjects && !parameter.isJSON && parameter.style != "deepObject"
    }

    private func pathPart(_ argument: FunctionPlan.Argument) -> String {
        guard case .parameter(let parameter) = argument.location else { return "" }
        let name = value(of: argument, parameter)
        let explode = parameter.explode ? ", explode: true" : ""
        if parameter.isJSON { return "\\(json: \(name))" }
        switch parameter.style {
        case "label": return "\\(label: \(name)\(explode))"
        case "matrix": return "\\(matrix: \(name), \(PlainText.literal(parameter.name))\(explode))"
        default: return Self.isPlain(argument.type) ? "\\(\(name))" : "\\(simple: \(name)\(explode))"
        }
    }

    /// Whether a path can interpolate the type directly.
    private static func isPlain(_ type: TypeUse) -> Bool {
        switch type {
        case .string, .int, .int32, .int64, .uint64, .bool, .double: true
        case .declared(let declared): declared.enumeration?.isInteger == false
        default: false
        }
    }

    private func queryPart(_ argument: FunctionPlan.Argument) -> String? {
        guard case .parameter(let parameter) = argument.location else { return nil }
        let key = PlainText.literal(parameter.name)
        let name = value(of: argument, parameter)
        if parameter.location == .querystring {
            return parameter.isJSON ? ".whole(\(name))" : ".fields(\(key), \(name))"
        }
        guard parameter.location == .query else { return nil }
        if parameter.isJSON { return ".json(\(key), \(name))" }
        switch parameter.style {
        case "deepObject": return ".deep(\(key), \(name))"
        case "spaceDelimited" where !parameter.explode: return ".joined(\(key), \(name), by: \" \")"
        case "pipeDelimited" where !parameter.explode: return ".joined(\(key), \(name), by: \"|\")"
        default: return parameter.explode ? ".form(\(key), \(name))" : ".joined(\(key), \(name))"
        }
    }

    private func headerPart(_ argument: FunctionPlan.Argument) -> String? {
        guard case .parameter(let parameter) = argument.location else { return nil }
        let key = PlainText.literal(parameter.name)
        let name = value(of: argument, parameter)
        switch parameter.location {
        case .header:
            if parameter.isJSON { return ".field(\(key), json: \(name))" }
            return ".field(\(key), \(name)\(parameter.explode ? ", explode: true" : ""))"
        case .cookie:
            if parameter.isJSON { return ".cookie(\(key), json: \(name))" }
            // A single value is the same with and without `explode`.
            let isSingle = Self.isPlain(argument.type)
            let options = (parameter.explode && !isSingle ? ", explode: true" : "")
            return ".cookie(\(key), \(name)\(options)\(parameter.style == "cookie" ? ", isEncoded: true" : ""))"
        case .path, .query, .querystring: return nil
        }
    }

    private func bodyCode(_ argument: FunctionPlan.Argument) -> String? {
        guard case .body(let kind, let mediaType) = argument.location else { return nil }
        let name = Identifier.escaped(argument.name)
        func wrapped(_ code: (String) -> String) -> String {
            argument.isOptional ? "\(name).map { \(code("$0")) } ?? .empty" : code(name)
        }
        let media = PlainText.literal(mediaType)
        let type = "mediaType: MediaType(\(media)) ?? .json"
        switch kind {
        case .json:
            let isStandard = mediaType == "application/json" || mediaType.contains("*")
            return wrapped { isStandard ? ".json(\($0))" : ".json(\($0), \(type))" }
        case .form: return wrapped { ".form(\($0))" }
        case .multipart: return wrapped { argument.type.isJSON ? ".multipart(\($0))" : ".multipart(\($0).parts)" }
        case .text:
            let isStandard = mediaType == "text/plain" || mediaType.contains("*")
            return wrapped {
                isStandard ? ".text(\($0))" : ".text(\($0), mediaType: MediaType(\(media)) ?? .plainText)"
            }
        case .binary, .events, .lines, .sequence: return argument.isOptional ? "\(name) ?? .empty" : name
        }
    }
}

extension FunctionPlan {
    /// Whether the function makes a route, not a call, because the response is a text or a file.
    var isRoute: Bool {
        switch value {
        case .text, .bytes: true
        case .none, .value: false
        }
    }
}
