// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// This works around a crash of Swift 6.3. It crashes when it infers the type of a property under two conditions: the
// router has an enum case of that name without values, and the compiler has not read the type of that case before.
//
// Each property with an associated type has its own protocol, because the compiler infers the types of all properties
// of one protocol together. Each of these protocols also has a static member with the name of the property. To find
// this member, the compiler reads the case first.
//
// The associated types of the query, the method, the fields and the body are unconstrained. With a constraint, the
// compiler would silently use the default for a property of any other type. A property that cannot be converted is
// refused when the request is sent.

/// The type of `Router.body` if the router has no case of that name.
///
/// The compiler mentions this type if a call uses a property of ``ApiRouter`` instead of a route.
public struct NotARoute: Sendable {
    init() {}
}
