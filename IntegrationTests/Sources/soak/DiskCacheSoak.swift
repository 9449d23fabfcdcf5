// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import ApiConnectorTraffic
import Foundation
import Synchronization

/// Kills processes that share one disk cache at random moments.
///
/// Cached responses must be correct and complete, and a response must not come back after a DELETE.
///
/// Only the first user's responses are checked against the DELETEs. A lock ensures that this user has no request in
/// flight during a DELETE. Otherwise another process could store an older response afterward, because a cache does not
/// see the DELETEs of other processes. The other users send requests at any time, and change the same records.
enum DiskCacheSoak {
    private static let addressCount = 20
    private static let maximumByteCount = 256 << 10
    private static let childCount = 3

    /// Kills `killCount` processes and returns the problems.
    static func problems(afterKilling killCount: Int, program: String) async throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-cache-\(UUID().uuidString)")
        let versions = Versions(of: folder.path(percentEncoded: false))
        try FileManager.default.createDirectory(atPath: versions.folder, withIntermediateDirectories: true)
        defer {
            try? FileManager.default.removeItem(at: folder)
            try? FileManager.default.removeItem(atPath: versions.folder)
        }
        var problems: [String] = []
        var children = try (0..<childCount).map { _ in try spawn(program, folder) }
        defer { for child in children { end(child) } }
        var counts = Counts()
        let start = ContinuousClock.now
        for number in 0..<killCount where problems.count < 10 {
            // Some processes are killed before their first request, the others later.
            try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000)))
            let index = number % childCount
            if let problem = end(children[index]) { problems.append(problem) }
            children[index] = try spawn(program, folder)
            // This cache has its own storage, like the next run of a program.
            let cached = Origin(versions: versions).caching(
                in: DiskCacheStorage(folder: folder, maximumByteCount: maximumByteCount)
            )
            for _ in 0..<5 {
                let answer = try await ask(
                    Int.random(in: 0..<addressCount),
                    Int.random(in: 0..<3),
                    .cached,
                    cached,
                    versions
                )
                counts.add(answer)
                if let problem = answer.problem { problems.append(problem) }
            }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        print("\(killCount) processes killed in \(Int(seconds)) s, \(childCount) at once; between kills:")
        print("\(counts.hitCount) cache hits and \(counts.missCount) cache misses")
        let deletedCount = (0..<addressCount).count { versions.read($0).deleted > 0 }
        print("\(deletedCount) of \(addressCount) addresses were deleted; the newest version is \(versions.newest)")
        if deletedCount < addressCount { problems.append("too few addresses were deleted for a result") }
        if counts.hitCount < killCount { problems.append("too few cache hits for a result") }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
        let sizes = names.map { (name) -> Int in
            // The file may already be gone, because other processes are still working.
            let attributes = try? FileManager.default.attributesOfItem(atPath: folder.appending(path: name).path)
            return attributes?[.size] as? Int ?? 0
        }
        print("\(names.count) files of \(sizes.reduce(0, +)) bytes remain")
        if sizes.reduce(0, +) > maximumByteCount * 5 / 4 {
            problems.append("the cache exceeds its limit of \(maximumByteCount) bytes")
        }
        return problems
    }

    /// Uses the cache until the process is killed.
    ///
    /// The process ends by itself only if a response is wrong.
    static func work(in folder: String) async throws {
        let storage = AwaitedStorage(
            DiskCacheStorage(folder: URL(filePath: folder), maximumByteCount: maximumByteCount)
        )
        let versions = Versions(of: folder)
        let cached = Origin(versions: versions).caching(in: storage)
        while true {
            let (address, user) = (Int.random(in: 0..<addressCount), Int.random(in: 0..<3))
            let use: CacheUse = Bool.random() ? .reload : .standard
            let lock = user == 0 ? versions.lock(address, LOCK_SH) : nil
            let answer = try await ask(address, user, use, cached, versions)
            if let problem = answer.problem {
                print("error: \(problem)")
                exit(3)
            }
            if let lock {
                await storage.finishWrites()
                close(lock)
            }
            guard Int.random(in: 0..<30) == 0 else { continue }
            let exclusive = versions.lock(address, LOCK_EX)
            _ = try await cached.response(for: ApiRequest(url: url(address), method: .delete))
            await storage.finishWrites()
            versions.write((versions.read(address).current, versions.read(address).current), address)
            close(exclusive)
        }
    }

    /// The origin's current version of each address, and the version at the end of the last DELETE.
    ///
    /// Both are in files that outlive the processes.
    private struct Versions {
        let folder: String

        init(of folder: String) {
            self.folder = folder.hasSuffix("/") ? folder.dropLast() + ".versions/" : folder + ".versions/"
        }

        var newest: UInt64 { (0..<addressCount).map { read($0).deleted }.max() ?? 0 }

        /// Waits for the lock of an address, and returns the lock's descriptor.
        ///
        /// The caller closes it.
        func lock(_ address: Int, _ kind: Int32) -> Int32 {
            let descriptor = open(folder + "\(address).lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            while flock(descriptor, kind) != 0, errno == EINTR {}
            return descriptor
        }

        func read(_ address: Int) -> (current: UInt64, deleted: UInt64) {
            var numbers: [UInt64] = [1, 0]
            let descriptor = open(folder + "\(address)", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return (1, 0) }
            defer { close(descriptor) }
            guard pread(descriptor, &numbers, 16, 0) == 16 else { return (1, 0) }
            return (numbers[0], numbers[1])
        }

        func write(_ versions: (current: UInt64, deleted: UInt64), _ address: Int) {
            let descriptor = open(folder + "\(address)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            pwrite(descriptor, [versions.current, versions.deleted], 16, 0)
            close(descriptor)
        }
    }

    /// A disk storage whose writes can be awaited.
    private final class AwaitedStorage: CacheStorage {
        private final class End: Sendable {
            private let continuation: CheckedContinuation<Void, Never>

            init(_ continuation: CheckedContinuation<Void, Never>) {
                self.continuation = continuation
            }

            deinit { continuation.resume() }
        }

        private let disk: DiskCacheStorage
        private let lastKey = Mutex<CacheKey?>(nil)

        init(_ disk: DiskCacheStorage) {
            self.disk = disk
        }

        var digestKey: Data { disk.digestKey }

        func record(for key: CacheKey) async -> Data? { await disk.record(for: key) }

        func update(_ key: CacheKey, _ change: @escaping @Sendable (Data?) -> Data?) {
            lastKey.withLock { $0 = key }
            disk.update(key, change)
        }

        func removeAll() { disk.removeAll() }

        /// Returns when each earlier change is on the disk, or was dropped.
        func finishWrites() async {
            guard let key = lastKey.withLock({ $0 }) else { return }
            // The storage makes its changes in their order, and releases each of them.
            await withCheckedContinuation { continuation in
                let end = End(continuation)
                disk.update(key) { record in withExtendedLifetime(end) { record } }
            }
        }
    }

    private struct Counts {
        var (hitCount, missCount) = (0, 0)

        mutating func add(_ answer: (isHit: Bool, problem: String?)) {
            if answer.isHit { hitCount += 1 } else { missCount += 1 }
        }
    }

    private static func url(_ address: Int) -> URL { URL(string: "http://h/\(address)") ?? URL(filePath: "/") }

    private static func ask(
        _ address: Int,
        _ user: Int,
        _ use: CacheUse,
        _ provider: some DataRequestType,
        _ versions: Versions
    ) async throws -> (isHit: Bool, problem: String?) {
        var request = ApiRequest(url: url(address), headers: ["Authorization": "Bearer \(user)"])
        request.cacheUse = use
        let deleted = user == 0 ? versions.read(address).deleted : 0
        do throws(ApiConnectorError) {
            let response = try await provider.response(for: request)
            let body = try await response.body.collect(upTo: 1 << 20)
            let version = response.headers["X-Version"].flatMap { UInt64($0) } ?? 0
            let isRight = body == Origin.body(of: request, version)
            if version < deleted { return (false, "\(address), version \(version), was deleted at \(deleted)") }
            return (response.cacheHit != nil, isRight ? nil : "\(address), version \(version), is wrong or incomplete")
        } catch {
            return (false, error.kind == .notCached && use == .cached ? nil : "\(error)")
        }
    }

    /// Answers each address with a body that depends on the address, the user and a version, which grows with each
    /// DELETE.
    private struct Origin: DataRequestType {
        let versions: Versions

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            let address = Int(request.url.path().dropFirst()) ?? 0
            let (version, deleted) = versions.read(address)
            if request.method == .delete { versions.write((version + 1, deleted), address) }
            var headers: HTTPHeaders = ["Cache-Control": "private, max-age=600", "Vary": "Authorization"]
            headers["X-Version"] = String(version)
            let body = request.method == .get ? Self.body(of: request, version) : Data()
            return ApiResponse(to: request, status: 200, headers: headers, body: ResponseBody(body))
        }

        static func body(of request: ApiRequest, _ version: UInt64) -> Data {
            let line = "\(request.url.path()) as \(request.headers[.authorization] ?? "nobody"), version \(version)\n"
            return Data(String(repeating: line, count: Int(version &* 37 % 1000)).utf8)
        }
    }

    private static func spawn(_ program: String, _ folder: URL) throws -> pid_t {
        let arguments = [program, "disk-cache-work", folder.path(percentEncoded: false)]
        let texts = arguments.map { strdup($0) }
        defer { for text in texts { free(text) } }
        var process = pid_t()
        let code = posix_spawn(&process, program, nil, nil, texts + [nil], [nil])
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        return process
    }

    /// Kills a process and waits for its end.
    ///
    /// Returns a problem if the process had already ended.
    @discardableResult
    private static func end(_ process: pid_t) -> String? {
        kill(process, SIGKILL)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == SIGKILL ? nil : "a process ended on its own with status \(status)"
    }
}
#endif
