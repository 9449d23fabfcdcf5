// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Synchronization

/// URLSession with a delegate that only stores and resumes.
final class BareDelegateGet: NSObject, SmallGet, URLSessionDataDelegate {
    private struct Transfer {
        let continuation: CheckedContinuation<Data, any Error>
        var body = Data()
    }

    private let url: URL
    private let session: Mutex<URLSession?> = Mutex(nil)
    private let transfers: Mutex<[Int: Transfer]> = Mutex([:])
    private let decoder = JSONDecoder()

    init(url: URL) {
        self.url = url
        super.init()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        self.session.withLock { $0 = session }
    }

    func value() async throws -> SmallValue {
        let data = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Data, any Error>) in
            guard let task = session.withLock({ $0?.dataTask(with: URLRequest(url: url)) }) else {
                return continuation.resume(throwing: URLError(.unknown))
            }
            transfers.withLock { $0[task.taskIdentifier] = Transfer(continuation: continuation) }
            task.resume()
        }
        return try decoder.decode(SmallValue.self, from: data)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfers.withLock { $0[dataTask.taskIdentifier]?.body.append(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let transfer = transfers.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        if let error { return transfer.continuation.resume(throwing: error) }
        transfer.continuation.resume(returning: transfer.body)
    }
}
