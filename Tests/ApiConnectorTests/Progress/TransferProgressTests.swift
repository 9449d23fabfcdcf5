// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

struct TransferProgressTests {
    @Test(
        arguments: [
            (TransferProgress(byteCount: 1, totalByteCount: 4, bytesPerSecond: 2), 0.25, Duration.milliseconds(1500)),
            (TransferProgress(byteCount: 4, totalByteCount: 4, bytesPerSecond: 2), 1, .zero),
            (TransferProgress(byteCount: 0, totalByteCount: 0, bytesPerSecond: 0), 1, nil),
            (TransferProgress(byteCount: 9, totalByteCount: 4), 1, nil),
            (TransferProgress(byteCount: 9), nil, nil),
            (TransferProgress(byteCount: 0, totalByteCount: .max, bytesPerSecond: 0.01), 0, nil),
            (TransferProgress(byteCount: 0, totalByteCount: .max, bytesPerSecond: 1e9), 0, nil),
            (TransferProgress(byteCount: 0, totalByteCount: 1, bytesPerSecond: .leastNonzeroMagnitude), 0, nil),
            (TransferProgress(byteCount: 0, totalByteCount: 0, bytesPerSecond: .nan), 1, nil),
            (TransferProgress(byteCount: 0, totalByteCount: 8, bytesPerSecond: .infinity), 0, .zero),
        ] as [(TransferProgress, Double?, Duration?)]
    )
    func knowsTheFractionAndTheRemainder(_ progress: TransferProgress, _ fraction: Double?, _ rest: Duration?) {
        #expect(progress.fractionCompleted == fraction)
        #expect(progress.remainingTime == rest)
    }

    @Test func isMeasuredOverTheLastFiveSeconds() {
        var rate = TransferRate(from: 1000, at: .seconds(7))
        #expect(rate.record(1100, at: .seconds(7)) == nil)
        #expect(rate.record(1200, at: .milliseconds(7100)) == 2000)
        #expect(rate.record(2000, at: .seconds(8)) == 1000)
        #expect(rate.record(2000, at: .seconds(10)) == 1000.0 / 3)
        // Ten seconds later what was fast is forgotten.
        for second in 11...20 { _ = rate.record(2000 + (second - 10) * 10, at: .seconds(second)) }
        #expect(rate.record(2110, at: .seconds(21)) == 10)
        // A transfer that starts over.
        #expect(rate.record(0, at: .seconds(21)) == nil)
        #expect(rate.record(50, at: .seconds(22)) == 50)
    }
}
