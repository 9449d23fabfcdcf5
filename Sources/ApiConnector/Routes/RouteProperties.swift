// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Conversions from the declared types of a router's properties to the types of a request.
//
// The first step is inlined into the user's module, where the type is known and the comparison costs nothing.

extension ApiQuery {
    @inlinable init<Property>(property: Property) {
        if Property.self == ApiQuery.self, let query = property as? ApiQuery {
            self = query
        } else if Property.self == [URLQueryItem]?.self, let items = property as? [URLQueryItem]? {
            self = items.map { ApiQuery($0) } ?? .empty
        } else {
            self.init(converting: property)
        }
    }

    @usableFromInline init<Property>(converting property: Property) {
        if let convertible = property as? any ApiQueryConvertible {
            self = convertible.apiQuery
        } else if case Optional<Any>.none = property as Any {
            self = .empty
        } else {
            let text = UnusableProperty.text("queryItems", Property.self, "ApiQuery")
            self.init(error: ApiConnectorError(.invalidRequest, at: .url, text))
        }
    }
}

extension HTTPMethod {
    /// Returns nil for a property that cannot be converted.
    @inlinable init?<Property>(property: Property) {
        guard Property.self == HTTPMethod.self, let method = property as? HTTPMethod else {
            self.init(converting: property)
            return
        }
        self = method
    }

    @usableFromInline init?<Property>(converting property: Property) {
        if let name = property as? String {
            self.init(rawValue: name)
        } else if case Optional<Any>.none = property as Any {
            self = .get
        } else {
            return nil
        }
    }
}

extension HTTPHeaders {
    /// Returns nil for a property that cannot be converted.
    @inlinable init?<Property>(property: Property) {
        guard Property.self == HTTPHeaders.self, let headers = property as? HTTPHeaders else {
            self.init(converting: property)
            return
        }
        self = headers
    }

    @usableFromInline init?<Property>(converting property: Property) {
        if Property.self == [String: String].self || Property.self == [String: String]?.self,
            let fields = property as? [String: String]
        {
            // Checks the declared type, because the cast also succeeds for [String: Any] if all values are strings.
            self.init(fields)
        } else if case Optional<Any>.none = property as Any {
            self.init()
        } else {
            return nil
        }
    }
}

extension RequestBody {
    /// Returns nil for a property that cannot be converted.
    @inlinable init?<Property>(property: Property) {
        guard Property.self == RequestBody.self, let body = property as? RequestBody else {
            self.init(converting: property)
            return
        }
        self = body
    }

    @usableFromInline init?<Property>(converting property: Property) {
        if let data = property as? Data {
            self = .data(data)
        } else if case Optional<Any>.none = property as Any {
            self = .empty
        } else {
            return nil
        }
    }
}

/// The converted properties of a route; nil for a property that cannot be converted.
@usableFromInline struct RouteProperties {
    let method: HTTPMethod?
    let headers: HTTPHeaders?
    let body: RequestBody?

    @inlinable init(of route: some ApiRouter) {
        self.init(
            HTTPMethod(property: route.method),
            HTTPHeaders(property: route.headers),
            RequestBody(property: route.body)
        )
    }

    @usableFromInline init(_ method: HTTPMethod?, _ headers: HTTPHeaders?, _ body: RequestBody?) {
        self.method = method
        self.headers = headers
        self.body = body
    }
}

extension ApiRouter {
    /// The header fields of this endpoint, converted from the type of ``HeaderRouting/headers``; none if they cannot be
    /// converted.
    public var declaredHeaders: HTTPHeaders { HTTPHeaders(property: headers) ?? HTTPHeaders() }
}

/// Describes a router's property with a type that cannot be converted.
enum UnusableProperty {
    static func text(_ name: String, _ type: Any.Type, _ wanted: String) -> String {
        "its property \(name) has the type \(type); declare it as \(wanted)"
    }
}

extension ApiConnectorError {
    /// The error of a property whose type cannot be converted.
    static func unusable(
        property text: String,
        of route: some ApiRouter,
        _ url: URL,
        at stage: Stage = .request
    ) -> ApiConnectorError {
        let request = ApiRequest(url: url, method: HTTPMethod(property: route.method) ?? .get, route: route)
        return ApiConnectorError(.invalidRequest, at: stage, "route \(route.routeName): \(text)", request: request)
    }
}
