// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// The kinds of the errors of a system's network code.
struct SystemErrorKindTests {
    private static let sockets: [(code: Int32, kind: ApiConnectorError.Kind)] = [
        (ECONNABORTED, .connectionLost), (ECONNRESET, .connectionLost), (ENOTCONN, .connectionLost),
        (EPIPE, .connectionLost), (ECONNREFUSED, .cannotConnect), (EHOSTUNREACH, .cannotConnect),
        (ENETDOWN, .cannotConnect), (ENETUNREACH, .cannotConnect), (ETIMEDOUT, .timedOut), (ENOENT, .other),
    ]

    @Test(arguments: sockets) func ofASocket(_ code: Int32, _ kind: ApiConnectorError.Kind) throws {
        let number = try #require(POSIXErrorCode(rawValue: code))
        #expect(ApiConnectorError(mapping: POSIXError(number)).kind == kind)
        let error = NSError(domain: NSPOSIXErrorDomain, code: Int(code))
        #expect(ApiConnectorError(mapping: error).kind == kind)
    }

    private static let network: [(code: Int, kind: ApiConnectorError.Kind)] = [
        (1, .nameNotResolved), (2, .nameNotResolved), (302, .connectionLost), (303, .malformedResponse),
        (304, .tooManyRedirects), (305, .invalidRequest), (306, .cannotConnect), (310, .cannotConnect),
        (307, .cannotConnect), (308, .cannotConnect), (309, .cannotConnect), (311, .cannotConnect),
        // The codes of URLError.
        (-1001, .timedOut), (-1005, .connectionLost), (-1202, .secureConnectionFailed),
        (4711, .other),
    ]

    @Test(arguments: network) func ofCFNetwork(_ code: Int, _ kind: ApiConnectorError.Kind) {
        let error = NSError(domain: "kCFErrorDomainCFNetwork", code: code)
        #expect(ApiConnectorError(mapping: error).kind == kind)
    }

    @Test func ofACancellationHasTheSameDetail() {
        #expect(ApiConnectorError(mapping: URLError(.cancelled)).detail == "the call was canceled")
        #expect(ApiConnectorError(mapping: CancellationError()).detail == "the call was canceled")
        #expect(ApiConnectorError(mapping: URLError(.timedOut)).detail != "the call was canceled")
    }

    @Test func ofAppTransportSecurityDoesNotBlameTheCertificate() {
        let error = ApiConnectorError(mapping: URLError(.appTransportSecurityRequiresSecureConnection))
        #expect(error.kind == .secureConnectionFailed)
        #expect(
            error.description
                == "The call failed (secureConnectionFailed): App Transport Security does not allow http. Set the "
                + "environment's scheme to https, or allow the host with NSAppTransportSecurity in the app's "
                + "Info.plist; http to localhost is allowed; since iOS 17, http to an IP address is not."
        )
        // The same number in another domain is another error.
        let other = NSError(domain: "kCFErrorDomainCFNetwork", code: -1022)
        #expect(!ApiConnectorError(mapping: other).description.contains("NSAppTransportSecurity"))
    }
}
