// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The interface of generated code: operations with their functions, and models with their members.
public struct Interface: Sendable {
    struct Function {
        var name: String
        var arguments: [Member]
        var value: String
        /// The name of the `NextPage` for `pages(from:next:)`; nil if the operation has no pages.
        var pages: String?
    }

    struct Member: Equatable {
        var name: String
        var type: String
        /// Whether a caller can omit it.
        var isOptional: Bool
        /// The place, the name and the style of a parameter, the key of a model's member, or the tags of an
        /// alternative; empty for a body.
        var format = ""
        var limits = Limits()
    }

    struct Model {
        var isSent: Bool
        var isReceived: Bool
        /// Whether callers make values with an initializer, whose arguments are the members in their order.
        var hasInitializer = false
        /// Whether the model is alternatives, over which callers switch.
        var isUnion = false
        /// The member that distinguishes alternatives, or the type of an enumeration's values; empty for other models.
        var format = ""
        var members: [Member]
        /// The values of an enumeration, each with its literal.
        var values: [(name: String, literal: String)] = []
    }

    var functions: [String: [Function]] = [:]
    var exchanges: [String: Exchange] = [:]
    var models: [String: Model] = [:]
    /// The type of each router's errors, by the router's name.
    var failures: [String: String] = [:]
    /// The API's name in the names of types.
    var apiName: String
    /// The environments with their URLs, in which variables have their defaults.
    var servers: [(name: String, url: String)] = []
    /// The settings of each security scheme, by the scheme's name.
    var schemes: [String: String] = [:]

    init(
        _ specification: SpecificationReader,
        _ routers: [RouterPlan],
        _ declarations: [Declaration],
        _ routerWriter: RouterWriter,
        _ modelWriter: ModelWriter,
        _ serverWriter: ServerWriter
    ) {
        let resolve = { try? specification.documents.resolved($0) }
        apiName = serverWriter.apiName
        servers = serverWriter.environments()
        for scheme in specification.root["components"]?["securitySchemes"]?.members ?? [] {
            let settings = resolve(scheme.value)?.members ?? []
            let texts = settings.filter { $0.key != "description" && !$0.key.hasPrefix("x-") }.compactMap { member in
                member.value.scalarText.map { "\(member.key) \($0)" }
            }
            schemes[scheme.key] = texts.sorted().joined(separator: ", ")
        }
        for router in routers {
            if let failure = router.failure { failures[router.name] = failure.code }
            for function in router.functions {
                let arguments = function.arguments.map { argument in
                    var member = Member(
                        name: argument.name,
                        type: routerWriter.argumentCode(argument),
                        isOptional: argument.isOptional
                    )
                    if case .parameter(let parameter) = argument.location {
                        member.format = Self.format(parameter)
                        member.limits = Limits(parameter.schema, resolve)
                    }
                    return member
                }
                let own = Function(
                    name: "\(router.name).\(function.name)",
                    arguments: arguments,
                    value: routerWriter.returned(function),
                    pages: function.pages?.name
                )
                functions[function.operation.title, default: []].append(own)
                exchanges[function.operation.title] = Exchange(function.operation, specification)
            }
        }
        for declaration in declarations where declaration.isGenerated {
            var model = Model(
                isSent: !declaration.usage.isDisjoint(with: [.request, .parameter, .form]),
                isReceived: declaration.usage.contains(.response),
                members: []
            )
            switch declaration.kind {
            case .structure(let structure):
                model.members = modelWriter.members(of: structure, declaration, resolve)
                model.hasInitializer = model.isSent
            case .enumeration(let enumeration):
                model.format = enumeration.isInteger ? "values are integers" : "values are texts"
                model.values = enumeration.values.map { ($0.name, $0.literal) }
            case .union(let union):
                model.isUnion = true
                if let tag = union.tag { model.format = "alternatives are distinguished by \(quoted(tag))" }
                model.members = union.cases.map { variant in
                    let isFile = variant.type.isBinary
                    let code = isFile ? modelWriter.code(of: variant, in: declaration) : variant.type.code
                    let tags = variant.tags.sorted().map(quoted).joined(separator: ", ")
                    let format = tags.isEmpty ? "" : "alternative with the tag \(tags)"
                    return Member(name: variant.name, type: code, isOptional: true, format: format)
                }
            case .wrapper(let type): model.members = [Member(name: "value", type: type.code, isOptional: false)]
            case .pending, .opaque: continue
            }
            models[declaration.name] = model
        }
    }

    /// The place, the name and the style of a parameter as text.
    private static func format(_ parameter: Parameter) -> String {
        let place =
            switch parameter.location {
            case .path: "part of the path"
            case .query: "query item"
            case .header: "header field"
            case .cookie: "cookie"
            case .querystring: "whole query"
            }
        let style = parameter.mediaType ?? parameter.style + (parameter.explode ? " with explode" : "")
        let name = parameter.location == .header ? parameter.name.lowercased() : parameter.name
        return PlainText.line("\(place) \(name) in the style \(style)")
    }

    /// A difference that affects callers.
    public struct Change: Sendable, Hashable, CustomStringConvertible {
        /// The effect of a change on callers.
        public enum Kind: String, Sendable, CaseIterable {
            /// Existing code may no longer compile, or may fail when it runs.
            case breaking
            /// The new interface has something that existing code does not use.
            case addition = "added"
            /// Existing code still works, but may behave differently.
            case change = "changed"
        }

        /// The effect of the change on callers.
        public let kind: Kind
        /// The change as a sentence.
        public let sentence: String

        /// Whether existing code may no longer compile, or may fail when it runs.
        public var isBreaking: Bool { kind == .breaking }

        /// The kind and the sentence.
        public var description: String { "\(kind.rawValue): \(sentence)" }
    }
}
