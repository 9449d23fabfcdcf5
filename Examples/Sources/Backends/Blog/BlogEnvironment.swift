// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// The environments of the blog.
package enum BlogEnvironment: ApiEnvironment {
    case test
    case production

    /// The blog on a server whose address is known only at run time; its base path is `/blog`.
    case server(ServerLocation)

    package var host: String {
        switch self {
        case .test: "mytestserver.com"
        case .production: "myproductionserver.com"
        case .server(let location): location.host
        }
    }

    package var scheme: HTTPScheme {
        if case .server(let location) = self { location.scheme } else { .http }
    }

    package var port: Int? {
        if case .server(let location) = self { location.port } else { scheme.defaultPort }
    }

    package var basePath: String {
        if case .server(let location) = self { location.basePath + "/blog" } else { "" }
    }
}
