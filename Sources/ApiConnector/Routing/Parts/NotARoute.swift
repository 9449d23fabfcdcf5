// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// For Swift 6.3: when it infers the type of a property, it crashes if the type has an enum case of that name without
// values, and if nothing has read the type of that case before. Hence one protocol per property that has an associated
// type, with a static member of the same name: the compiler reads the case to find the static member first, and it
// infers the properties' types of one protocol together.
//
// The associated types of the query, the method, the fields and the body are unconstrained: of a property of another
// type than a constraint allows, the compiler would silently take the default. What cannot be converted is refused when
// it is sent.

/// What `Router.body` is if the router has no case of that name.
///
/// The compiler names this type where a call names a property of ``ApiRouter`` in place of a route.
public struct NotARoute: Sendable {
    init() {}
}
