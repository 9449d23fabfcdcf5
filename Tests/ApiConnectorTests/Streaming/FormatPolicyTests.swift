// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

struct FormatPolicyTests {
    @Test func aFormatOfAFormatIsResumedAsItsOwn() {
        let format = StreamFormat<Int>.jsonLines.resuming(RetryPolicy(maximumAttemptCount: 5))
        #expect(StreamFormat<Result<Int, ApiConnectorError>>.results(format).resumePolicy?.maximumAttemptCount == 5)
        #expect(StreamFormat<Int>.skippingUndecodable(format).resumePolicy?.maximumAttemptCount == 5)
        #expect(StreamFormat<Int>.skippingUndecodable(.jsonLines).resumePolicy == nil)
    }
}
