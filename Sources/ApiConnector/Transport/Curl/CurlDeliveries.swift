// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)

/// The transfers that received data in the current turn of the loop, for delivery to their readers.
///
/// libcurl delivers 16 KiB at a time. Waking the reader for each piece took half of the time of a large body.
final class CurlDeliveries {
    private var transfers: [CurlTransfer] = []

    func add(_ transfer: CurlTransfer) {
        if transfers.last !== transfer { transfers.append(transfer) }
    }

    func takeLast() -> CurlTransfer? {
        transfers.popLast()
    }
}

#endif
