// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Writes models.
struct ModelWriter {
    let configuration: Configuration
    /// Whether to write also nested types that are not selected, so that the number of lines does not depend on the
    /// selection.
    var writesOmitted = false

    /// The access level and a space; empty for `internal`.
    var access: String {
        configuration.access == .internal ? "" : configuration.access.rawValue + " "
    }

    func write(_ declaration: Declaration, to writer: inout SourceWriter) {
        switch declaration.kind {
        case .structure(let structure): write(structure, declaration, &writer)
        case .enumeration(let enumeration): write(enumeration, declaration, &writer)
        case .union(let union): write(union, declaration, &writer)
        case .wrapper(let type): write(wrapper: type, declaration, &writer)
        case .pending, .opaque: break
        }
    }

    func writeNested(_ declaration: Declaration, _ writer: inout SourceWriter) {
        for nested in declaration.nested where !nested.usage.isEmpty && !nested.isOpaque {
            if nested.isOmitted, !writesOmitted { continue }
            writer.blank()
            write(nested, to: &writer)
        }
    }

    func documentation(_ text: String?, _ writer: inout SourceWriter, _ name: String) {
        let isWanted = configuration.documentation == .summary
        // A public declaration always gets a comment.
        let text = isWanted ? text : nil
        writer.summary(text ?? (access.isEmpty ? nil : "`\(name)`."))
    }

    // MARK: - Objects

    /// The protocols that a model conforms to, as code.
    func conformance(_ declaration: Declaration) -> String {
        var base = conformance(declaration.usage)
        if declaration.usage.contains(.form), declaration.union != nil {
            base = base == "Sendable" ? "FormValue" : base + ", FormValue"
        }
        switch declaration.conformance {
        case .none: return base
        case .equatable: return base + ", Equatable"
        case .hashable: return base + ", Hashable"
        }
    }

    private func conformance(_ usage: Usage) -> String {
        if configuration.isAlwaysCodable { return usage.contains(.parameter) ? "ApiModel, ParameterValue" : "ApiModel" }
        let isSent = !usage.isDisjoint(with: [.request, .parameter])
        let isReceived = usage.contains(.response)
        let isForm = usage.contains(.form)
        if isForm, !isSent, !isReceived { return "Sendable" }
        let base = isSent && isReceived ? "ApiModel" : isReceived ? "ResponseModel" : "RequestModel"
        return usage.contains(.parameter) ? base + ", ParameterValue" : base
    }

    private func write(_ structure: Structure, _ declaration: Declaration, _ writer: inout SourceWriter) {
        let usage = declaration.usage
        let isForm = usage == .form && !configuration.isAlwaysCodable
        let fields = fields(of: structure, declaration)
        documentation(declaration.documentation, &writer, declaration.shortName)
        // A model protocol is nonisolated. Without such a protocol, a module's default isolation would apply.
        let isolation = conformance(usage) == "Sendable" ? "nonisolated " : ""
        writer.block("\(access)\(isolation)struct \(declaration.shortName): \(conformance(declaration))") { writer in
            for field in fields {
                var comment = field.property.documentation
                // `@available(*, deprecated)` is not used, because the code that decodes and encodes the property would
                // then get a warning.
                if field.property.isDeprecated { comment = "Deprecated" + (comment.map { ": " + $0 } ?? "") }
                let hasComment = comment != nil && configuration.documentation == .summary
                if hasComment || !access.isEmpty { writer.blank() }
                documentation(comment, &writer, field.property.name)
                let name = Identifier.escaped(field.property.name)
                let initial = access.isEmpty ? field.initial : ""
                writer.line("\(access)var \(name):", breakBefore: field.code + initial)
                if hasComment { writer.blank() }
            }
            if let additional = structure.additional {
                writer.blank()
                writer.documentation("The members that have no property.")
                let code = additionalCode(additional, declaration)
                writer.line("\(access)var additionalProperties: [String: \(code)] = [:]")
            }
            // The compiler does not synthesize a memberwise initializer next to `init(from:)`.
            let isDecoded = configuration.isAlwaysCodable || usage.contains(.response)
            let hasCoding =
                !isForm && (structure.additional != nil || (isDecoded && fields.contains(where: \.keepsNull)))
            if !access.isEmpty || hasCoding { writeInitializer(fields, structure.additional, declaration, &writer) }
            if !isForm { writeKeys(fields, structure, hasCoding, &writer) }
            if hasCoding, isDecoded { writeDecoding(fields, structure.additional, &writer) }
            if hasCoding, structure.additional != nil { writeEncoding(fields, usage, &writer) }
            if usage.contains(.form) { writeParts(fields, structure.additional?.type, &writer) }
            writeNested(declaration, &writer)
        }
    }

    private struct Field {
        let property: Property
        let code: String
        let initial: String
        let isOptional: Bool

        /// Whether null is a value of the member, which the standard decoding reads as a missing member.
        var keepsNull: Bool { isOptional && property.type.type.isJSON }
    }

    private func fields(of structure: Structure, _ declaration: Declaration) -> [Field] {
        let usage = declaration.usage
        let isSent = !usage.isDisjoint(with: [.request, .parameter, .form])
        let isReceived = usage.contains(.response)
        return structure.properties.compactMap { property in
            if property.isReadOnly, isSent, !isReceived { return nil }
            if property.isWriteOnly, isReceived, !isSent { return nil }
            // A member that is only sent or only received can be omitted in the other direction.
            let isOneWay = isSent && isReceived && (property.isReadOnly || property.isWriteOnly)
            let isRequired = property.isRequired && !isOneWay
            let type = property.type
            var code = type.type.code(in: declaration)
            if usage.contains(.form) {
                code = formCode(type.type, declaration)
                let isOptional = !isRequired || type.isNullable
                return Field(
                    property: property,
                    code: code + (isOptional ? "?" : ""),
                    initial: "",
                    isOptional: isOptional
                )
            }
            if property.isBoxed { code = "Indirect<\(code)>" }
            // Null must be encoded if it differs from a missing member.
            let isEncoded = isSent || configuration.isAlwaysCodable
            let keepsNull = type.isNullable && isEncoded && !type.type.isJSON
            if keepsNull { code = "Nullable<\(code)>" }
            let isOptional = !isRequired || (type.isNullable && !keepsNull && !type.type.isJSON)
            var initial = ""
            if isRequired, !type.isNullable, property.values.count == 1,
                case .declared(let declared) = type.type, let enumeration = declared.enumeration
            {
                let literal = enumeration.isInteger ? property.values[0] : PlainText.literal(property.values[0])
                let value = enumeration.values.first { $0.literal == literal }
                initial = value.map { " = .\(Identifier.escaped($0.name))" } ?? ""
            }
            return Field(
                property: property,
                code: code + (isOptional ? "?" : ""),
                initial: initial,
                isOptional: isOptional
            )
        }
    }

    func formCode(_ type: TypeUse, _ scope: Declaration) -> String {
        switch type {
        case .binary: "FormFile"
        case .array(let element) where element.type.isBinary: "[FormFile]"
        // A form has no part for null.
        case .array(let element) where type.alternatives != nil: "[\(element.type.code(in: scope))]"
        default: type.code(in: scope)
        }
    }

    private func additionalCode(_ type: OptionalType, _ scope: Declaration) -> String {
        guard scope.usage.contains(.form) else { return type.code(in: scope) }
        return formCode(type.type, scope) + (type.isNullable ? "?" : "")
    }

    /// The code that reads a member, such as `nextCursor?` or `cursor?.value?`, and the member's type.
    func access(to key: String, of structure: Structure, _ declaration: Declaration) -> (code: String, type: TypeUse)? {
        guard let field = fields(of: structure, declaration).first(where: { $0.property.key == key }) else {
            return nil
        }
        var code = Identifier.escaped(field.property.name) + (field.isOptional ? "?" : "")
        // `Indirect` and `Nullable` hold the member in their property `value`.
        if field.property.isBoxed { code += ".value" }
        if field.code.hasPrefix("Nullable<") { code += ".value?" }
        return (code, field.property.type.type)
    }

    /// The members as a caller sees them.
    func members(
        of structure: Structure,
        _ declaration: Declaration,
        _ resolve: (Node) -> Node?
    ) -> [Interface.Member] {
        var members = fields(of: structure, declaration).map { field in
            let type = field.isOptional ? String(field.code.dropLast()) : field.code
            let media = field.property.partMediaType.map { " of type \($0)" } ?? ""
            return Interface.Member(
                name: field.property.name,
                type: type,
                isOptional: field.isOptional,
                format: PlainText.line("member \(quoted(field.property.key))\(media)"),
                limits: Limits(field.property.node, resolve)
            )
        }
        if let additional = structure.additional {
            let type = "[String: \(additionalCode(additional, declaration))]"
            members.append(Interface.Member(name: "additionalProperties", type: type, isOptional: true))
        }
        return members
    }

    private func writeInitializer(
        _ fields: [Field],
        _ additional: OptionalType?,
        _ declaration: Declaration,
        _ writer: inout SourceWriter
    ) {
        writer.blank()
        writer.line("/// Makes a value from its members.")
        var arguments = fields.map { field in
            let fallback = field.isOptional ? " = nil" : field.initial
            return SourceWriter.Argument.text("\(Identifier.escaped(field.property.name)): \(field.code)\(fallback)")
        }
        if let additional {
            arguments.append(.text("additionalProperties: [String: \(additionalCode(additional, declaration))] = [:]"))
        }
        writer.call("\(access)init", arguments, " {")
        writer.indented { writer in
            for field in fields {
                let name = Identifier.escaped(field.property.name)
                writer.line("self.\(name) = \(name)")
            }
            if additional != nil { writer.line("self.additionalProperties = additionalProperties") }
        }
        writer.line("}")
    }

    private func writeKeys(
        _ fields: [Field],
        _ structure: Structure,
        _ hasCoding: Bool,
        _ writer: inout SourceWriter
    ) {
        let isPlain = fields.allSatisfy { $0.property.key == $0.property.name }
        if isPlain, !hasCoding { return }
        if fields.isEmpty { return }
        writer.blank()
        let iterable = structure.additional == nil ? "" : ", CaseIterable"
        writer.block("\(access)enum CodingKeys: String, CodingKey\(iterable)") { writer in
            var row = ""
            for field in fields {
                let name = Identifier.escaped(field.property.name)
                if field.property.key == field.property.name {
                    if row.count + name.count > 96 {
                        writer.line(row)
                        row = ""
                    }
                    row += (row.isEmpty ? "case " : ", ") + name
                } else {
                    if !row.isEmpty { writer.line(row) }
                    row = ""
                    writer.line("case \(name) =", breakBefore: PlainText.literal(field.property.key))
                }
            }
            if !row.isEmpty { writer.line(row) }
        }
    }

    private func writeDecoding(_ fields: [Field], _ additional: OptionalType?, _ writer: inout SourceWriter) {
        writer.blank()
        if !access.isEmpty { writer.line("/// Reads all members.") }
        writer.block("\(access)init(from decoder: any Decoder) throws") { writer in
            if !fields.isEmpty { writer.line("let object = try decoder.container(keyedBy: CodingKeys.self)") }
            for field in fields {
                let name = Identifier.escaped(field.property.name)
                let own = Self.member(field.property.name)
                let type = field.isOptional ? String(field.code.dropLast()) : field.code
                let function = field.isOptional && !field.keepsNull ? "decodeIfPresent" : "decode"
                let line = "\(own) = try object.\(function)(\(type).self, forKey: .\(name))"
                if field.keepsNull {
                    writer.block("if object.contains(.\(name))") { $0.line(line) }
                } else {
                    writer.line(line)
                }
            }
            guard additional != nil else { return }
            let known = fields.isEmpty ? "[]" : "Set(CodingKeys.allCases.map(\\.rawValue))"
            writer.line("additionalProperties = try decoder.additionalMembers(besides: \(known))")
        }
    }

    private func writeEncoding(_ fields: [Field], _ usage: Usage, _ writer: inout SourceWriter) {
        guard configuration.isAlwaysCodable || !usage.isDisjoint(with: [.request, .parameter]) else { return }
        writer.blank()
        if !access.isEmpty { writer.line("/// Writes all members.") }
        writer.block("\(access)func encode(to encoder: any Encoder) throws") { writer in
            if !fields.isEmpty { writer.line("var object = encoder.container(keyedBy: CodingKeys.self)") }
            for field in fields {
                let name = Identifier.escaped(field.property.name)
                let function = field.isOptional ? "encodeIfPresent" : "encode"
                writer.line("try object.\(function)(\(Self.member(field.property.name)), forKey: .\(name))")
            }
            writer.line("try encoder.encode(additionalMembers: additionalProperties)")
        }
    }

    /// A property as code in a function that itself uses the names `object`, `decoder`, `encoder` and `form`.
    private static func member(_ name: String) -> String {
        let isLocal = ["object", "decoder", "encoder", "form"].contains(name)
        return isLocal ? "self." + name : Identifier.escaped(name)
    }

    private func writeParts(_ fields: [Field], _ additional: TypeUse?, _ writer: inout SourceWriter) {
        writer.blank()
        writer.line("/// The parts of the form.")
        writer.block("\(access)var parts: [MultipartPart]") { writer in
            writer.line("var form = FormParts()")
            for field in fields {
                let key = PlainText.literal(field.property.key)
                let name = Self.member(field.property.name)
                let mediaType = field.property.partMediaType
                let media = mediaType.map { ", as: \(PlainText.literal($0))" } ?? ""
                let isJSON = mediaType.map { ContentKind($0) == .json } ?? false
                let label = partLabel(field.property.type.type, isJSON: isJSON && !field.property.isFormValue)
                writer.line("form.add(\(label)\(key), \(name)\(media))")
            }
            if let additional {
                writer.block("for (name, value) in additionalProperties.sorted(by: { $0.key < $1.key })") { writer in
                    writer.line("form.add(\(partLabel(additional, isJSON: false))name, value)")
                }
            }
            writer.line("return form.parts")
        }
    }

    /// The label of the function that adds a value to a form: as files or alternatives, as text, or as JSON.
    ///
    /// An array has one part per element.
    func partLabel(_ type: TypeUse, isJSON: Bool) -> String {
        if type.isBinary || (type.alternatives != nil && !isJSON) { return "" }
        if case .array(let element) = type {
            return element.type.isText && !isJSON ? "text: " : "jsonElements: "
        }
        return type.isText && !isJSON ? "text: " : "json: "
    }

    // MARK: - Enumerations

    private func write(_ enumeration: Enumeration, _ declaration: Declaration, _ writer: inout SourceWriter) {
        documentation(declaration.documentation, &writer, declaration.shortName)
        let raw = enumeration.isInteger ? "Int64" : "String"
        writer.block("\(access)struct \(declaration.shortName): OpenEnum") { writer in
            if !access.isEmpty { writer.line("/// The value as the backend writes it.") }
            writer.line("\(access)let rawValue: \(raw)")
            if !access.isEmpty {
                writer.blank()
                writer.line("/// Makes a value; the document need not list it.")
                writer.block("\(access)init(rawValue: \(raw))") { $0.line("self.rawValue = rawValue") }
            }
            writer.blank()
            for value in enumeration.values {
                documentation(value.documentation, &writer, value.name)
                let head = "\(access)static let \(Identifier.escaped(value.name)) = Self"
                writer.call(head, [.text(value.literal)])
            }
        }
    }

    private func write(wrapper type: OptionalType, _ declaration: Declaration, _ writer: inout SourceWriter) {
        documentation(declaration.documentation, &writer, declaration.shortName)
        let usage = declaration.usage
        writer.block("\(access)struct \(declaration.shortName): \(conformance(declaration))") { writer in
            writer.line("/// The value.")
            writer.line("\(access)var value: \(type.code(in: declaration))")
            writer.blank()
            writer.line("/// Wraps a value.")
            writer.block("\(access)init(_ value: \(type.code(in: declaration)))") { $0.line("self.value = value") }
            if configuration.isAlwaysCodable || usage.contains(.response) {
                writer.blank()
                writer.line("/// Reads the value.")
                writer.block("\(access)init(from decoder: any Decoder) throws") { writer in
                    writer.line("value = try \(type.type.code(in: declaration))(from: decoder)")
                }
            }
            if configuration.isAlwaysCodable || !usage.isDisjoint(with: [.request, .parameter]) {
                writer.blank()
                writer.line("/// Writes the value.")
                writer.block("\(access)func encode(to encoder: any Encoder) throws") { writer in
                    writer.line("try value.encode(to: encoder)")
                }
            }
            writeNested(declaration, &writer)
        }
    }
}
