// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

/// The privacy manifest that an app's review on Apple's systems reads.
struct PrivacyManifestTests {
    private struct Manifest: Decodable {
        struct AccessedType: Decodable, Equatable {
            let NSPrivacyAccessedAPIType: String
            let NSPrivacyAccessedAPITypeReasons: [String]
        }

        let NSPrivacyTracking: Bool
        let NSPrivacyTrackingDomains: [String]
        let NSPrivacyCollectedDataTypes: [String]
        let NSPrivacyAccessedAPITypes: [AccessedType]
    }

    /// The two modules of the product call stat(2) for files of the app (C617.1) and for files that the user chose (3B52.1), and nothing else that
    /// needs a reason.
    @Test func givesTheReasonForReadingFileTimes() throws {
        let file = CodeBlockTests.root.appending(path: "Sources/ApiConnector/PrivacyInfo.xcprivacy")
        let manifest = try PropertyListDecoder().decode(Manifest.self, from: Data(contentsOf: file))
        #expect(!manifest.NSPrivacyTracking)
        #expect(manifest.NSPrivacyTrackingDomains == [])
        #expect(manifest.NSPrivacyCollectedDataTypes == [])
        let expected = Manifest.AccessedType(
            NSPrivacyAccessedAPIType: "NSPrivacyAccessedAPICategoryFileTimestamp",
            NSPrivacyAccessedAPITypeReasons: ["C617.1", "3B52.1"]
        )
        #expect(manifest.NSPrivacyAccessedAPITypes == [expected])
    }
}
