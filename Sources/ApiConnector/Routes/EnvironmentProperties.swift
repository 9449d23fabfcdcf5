// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Synchronization

/// Finds stored properties of an environment that have the name of a requirement, but another type.
///
/// Swift does not report such a property: the default of ``ApiEnvironment`` applies. A mirror shows only stored
/// properties, so a computed property of another type is not found.
enum EnvironmentProperties {
    /// The result for each type of environment, because a mirror takes longer than building a request.
    private static let flaws = Locked<[ObjectIdentifier: String?]>([:])
    /// The last type that has no flaw: most processes use one, and then no request takes the lock.
    private static let lastFlawless = Atomic<Int>(0)

    /// The first property whose type does not fit, in words; nil if there is no such property.
    static func flaw<Environment: ApiEnvironment>(of environment: Environment) -> String? {
        // Most enums without associated values have at most one byte, and no enum has stored properties.
        guard MemoryLayout<Environment>.size > 1 else { return nil }
        let type = ObjectIdentifier(Environment.self)
        if lastFlawless.load(ordering: .relaxed) == Int(bitPattern: type) { return nil }
        let flaw: String?
        if let known = flaws.withLock({ $0[type] }) {
            flaw = known
        } else {
            flaw = examine(environment)
            flaws.withLock { _ = $0.updateValue(flaw, forKey: type) }
        }
        if flaw == nil { lastFlawless.store(Int(bitPattern: type), ordering: .relaxed) }
        return flaw
    }

    private static func examine(_ environment: some ApiEnvironment) -> String? {
        // A custom mirror can show other children than the stored properties.
        guard !(environment is any CustomReflectable) else { return nil }
        let mirror = Mirror(reflecting: environment)
        // The children of an enum are named after its case.
        guard mirror.displayStyle == .struct || mirror.displayStyle == .class else { return nil }
        // If the value is not the default, another declaration fulfills the requirement, such as a user's extension.
        let requirements: [(name: String, type: Any.Type, isDefault: Bool)] = [
            ("scheme", HTTPScheme.self, environment.scheme == .http),
            ("port", Int?.self, environment.port == environment.scheme.defaultPort),
            ("basePath", String.self, environment.basePath.isEmpty),
            ("defaultHeaders", HTTPHeaders.self, environment.defaultHeaders.isEmpty),
        ]
        for requirement in requirements where requirement.isDefault {
            guard let property = mirror.children.first(where: { $0.label == requirement.name }) else { continue }
            let declared = type(of: property.value)
            if declared == requirement.type { continue }
            return "the environment's property \(requirement.name) has the type \(declared), so the default applies; "
                + "declare it as \(requirement.type)"
        }
        return nil
    }
}

extension HTTPOrigin {
    /// The origin of an environment.
    init(_ environment: some ApiEnvironment) {
        self.init(environment.scheme, host: environment.host, port: environment.port)
    }

    /// Whether a URL has exactly the environment's scheme, host and port, like the URL of a route.
    ///
    /// False is inconclusive, because the same origin can be written in another way.
    static func isPlainly(_ environment: some ApiEnvironment, _ url: URL) -> Bool {
        let scheme = environment.scheme
        return url.host(percentEncoded: false) == environment.host && url.scheme == scheme.rawValue
            && url.port ?? scheme.defaultPort == environment.port ?? scheme.defaultPort
    }
}
