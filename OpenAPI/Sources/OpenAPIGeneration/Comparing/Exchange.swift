// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The parts of an operation that the types of its functions do not show.
struct Exchange {
    /// The media types of the request body.
    var bodyTypes: Set<String> = []
    /// The limits of the body itself, not of its members.
    var bodyLimits = Limits()
    /// The media types of the response by status.
    var responses: [String: Set<String>] = [:]
    /// The alternatives of credentials.
    ///
    /// Each alternative is a set of texts: the name of each scheme, and for each required scope, the scheme's name with
    /// the scope.
    var security: Set<Set<String>> = []
    var servers: [String] = []
    var isDeprecated = false

    init(_ operation: Operation, _ specification: SpecificationReader) {
        let resolve = { try? specification.documents.resolved($0) }
        for content in operation.body?.contents ?? [] {
            bodyTypes.insert(content.mediaType)
            bodyLimits = Limits(content.schema, resolve)
        }
        for response in operation.responses {
            responses[response.status] = Set(response.contents.map(\.mediaType))
        }
        let alternatives = (operation.node["security"] ?? specification.root["security"])?.elements ?? []
        for alternative in alternatives {
            var schemes: Set<String> = []
            for scheme in alternative.members {
                schemes.insert(scheme.key)
                for scope in scheme.value.elements { schemes.insert("\(scheme.key) with \(scope.string ?? "")") }
            }
            security.insert(schemes)
        }
        if security.isEmpty { security = [[]] }
        let path = specification.root["paths"]?[operation.path].flatMap(resolve)
        let own = operation.node["servers"] ?? path?["servers"]
        servers = own?.elements.compactMap { $0["url"]?.string } ?? []
        isDeprecated = operation.isDeprecated
    }

    /// The changes from this exchange to a newer one.
    func changes(to newer: Exchange) -> [(kind: Interface.Change.Kind, sentence: String)] {
        var changes: [(Interface.Change.Kind, String)] = []
        for type in bodyTypes.subtracting(newer.bodyTypes).sorted() {
            changes.append((.breaking, "the request body can no longer be \(type)"))
        }
        for type in newer.bodyTypes.subtracting(bodyTypes).sorted() {
            changes.append((.addition, "the request body can be \(type)"))
        }
        for (sentence, isTighter) in bodyLimits.differences(to: newer.bodyLimits) {
            changes.append((isTighter ? .breaking : .change, "the request body: \(sentence)"))
        }
        for status in Set(responses.keys).union(newer.responses.keys).sorted() {
            let isError = !status.hasPrefix("2")
            guard let old = responses[status] else {
                changes.append((.addition, "the status \(status)"))
                continue
            }
            guard let new = newer.responses[status] else {
                changes.append((.change, "the status \(status) was removed"))
                continue
            }
            for type in old.subtracting(new).sorted() {
                changes.append((isError ? .change : .breaking, "the response \(status) can no longer be \(type)"))
            }
            for type in new.subtracting(old).sorted() {
                changes.append((.addition, "the response \(status) can be \(type)"))
            }
        }
        if security != newer.security {
            // An old alternative is still enough if one of the new alternatives asks for no more.
            let isEnough = security.allSatisfy { old in newer.security.contains { $0.isSubset(of: old) } }
            let text = "the credentials are \(Self.text(newer.security)) instead of \(Self.text(security))"
            changes.append((isEnough ? .change : .breaking, text))
        }
        if servers != newer.servers {
            func text(_ urls: [String]) -> String {
                urls.isEmpty ? "those of the document" : urls.joined(separator: ", ")
            }
            changes.append((.breaking, "the servers are \(text(newer.servers)) instead of \(text(servers))"))
        }
        if isDeprecated != newer.isDeprecated {
            changes.append((.change, newer.isDeprecated ? "it is deprecated" : "it is no longer deprecated"))
        }
        return changes.map { (kind: $0, sentence: PlainText.line($1)) }
    }

    private static func text(_ alternatives: Set<Set<String>>) -> String {
        alternatives.map { $0.isEmpty ? "none" : $0.sorted().joined(separator: " and ") }.sorted()
            .joined(separator: " or ")
    }
}
