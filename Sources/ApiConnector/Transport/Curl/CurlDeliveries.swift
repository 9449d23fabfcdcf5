// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)

/// The transfers whose readers get what one turn of the loop has brought them; in a turn only.
///
/// libcurl hands over 16 KiB at a time: waking the reader for each took half of the time that a large body takes.
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
