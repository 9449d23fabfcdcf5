// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Dispatch
import Synchronization

/// Headless Chromium, controlled by the Chrome DevTools Protocol over a pipe.
///
/// `Scripts/setup chromium` installs it. Tests are skipped if it is missing.
final class Browser: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The path of the browser; nil if it is not installed.
    static let program = ["/usr/bin/chromium", "/usr/bin/chromium-browser"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    private let folder: URL
    private let process: Process
    private let input: FileHandle
    private let output: FileHandle
    private let lastID = Atomic(0)
    private let rest = Mutex(Data())
    private let events = Mutex<[JSONValue]>([])
    private let queue = DispatchQueue(label: "browser")

    /// Starts the browser.
    init(isDark: Bool = false) throws {
        guard let program = Self.program else { throw Failure(description: "Chromium is not installed") }
        let folder = FileManager.default.temporaryDirectory.appending(path: "browser-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let pipes = ["in", "out"].map { folder.appending(path: $0).path() }
        for pipe in pipes where mkfifo(pipe, 0o600) != 0 { throw Failure(description: "mkfifo: \(errno)") }
        self.folder = folder
        process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        // The browser reads commands from descriptor 3 and writes to descriptor 4.
        process.arguments = [
            "-c", "exec \"$0\" \"$@\" 3<\"$APICONNECTOR_IN\" 4>\"$APICONNECTOR_OUT\"", program, "--headless",
            "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--window-size=1280,800", "--user-data-dir=\(folder.path())/profile",
            isDark ? "--blink-settings=preferredColorScheme=0" : "--blink-settings=preferredColorScheme=1",
        ]
        var environment = ProcessInfo.processInfo.environment
        environment["APICONNECTOR_IN"] = pipes[0]
        environment["APICONNECTOR_OUT"] = pipes[1]
        process.environment = environment
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        // Opening a pipe in one direction waits for the other side. Opening it in both directions does not wait.
        guard let input = FileHandle(forUpdatingAtPath: pipes[0]), let output = FileHandle(forReadingAtPath: pipes[1])
        else { throw Failure(description: "the pipes cannot be opened") }
        self.input = input
        self.output = output
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Opens a page, and waits until it is loaded.
    func open(_ url: URL) async throws -> Tab {
        let target = try await command("Target.createTarget", ["url": "about:blank"])
        let session = try await command(
            "Target.attachToTarget",
            ["targetId": target["targetId"], "flatten": true]
        )
        let tab = Tab(browser: self, session: session["sessionId"])
        _ = try await tab.command("Page.enable", [:])
        _ = try await tab.command("Page.navigate", ["url": .string(url.absoluteString)])
        try await tab.wait(until: "location.href !== 'about:blank' && document.readyState === 'complete'")
        return tab
    }

    struct Tab {
        let browser: Browser
        let session: JSONValue

        func command(_ method: String, _ parameters: JSONValue) async throws -> JSONValue {
            try await browser.command(method, parameters, session)
        }

        /// The value of an expression.
        ///
        /// If it is a promise, the promise is awaited.
        func evaluate(_ expression: String) async throws -> JSONValue {
            let answer = try await command(
                "Runtime.evaluate",
                [
                    "expression": .string(expression), "awaitPromise": true, "returnByValue": true,
                    "userGesture": true,
                ]
            )
            let details = answer["exceptionDetails"]
            guard details.isNull else { throw Failure(description: "\(expression): \(details)") }
            return answer["result"]["value"]
        }

        /// Waits until an expression is true, for at most a minute.
        func wait(until expression: String) async throws {
            _ = try await evaluate(
                """
                new Promise((done, fail) => {
                  const look = () => { if (\(expression)) done(true); else setTimeout(look, 10); };
                  setTimeout(() => fail(new Error('it never came')), 60000);
                  look();
                })
                """
            )
        }

        /// The texts of all elements that a selector selects.
        func texts(_ selector: String) async throws -> [String] {
            let texts = try await evaluate(
                "[...document.querySelectorAll('\(selector)')].map((element) => element.textContent)"
            )
            return texts.array?.compactMap(\.string) ?? []
        }

        /// Types a text into the page's search field.
        func search(_ text: String) async throws {
            _ = try await evaluate("byID('search').value = '\(text)'; byID('search').dispatchEvent(new Event('input'))")
        }

        /// Chooses a filter of the page.
        func filter(_ name: String) async throws {
            _ = try await evaluate(
                "byID('filter').value = '\(name)'; byID('filter').dispatchEvent(new Event('change'))"
            )
        }

        func press(_ key: String) async throws {
            let text = JSONValue.string(key.count == 1 ? key : "")
            let codes = ["Home": 36, "End": 35, "ArrowDown": 40, "Escape": 27, "/": 191]
            let code = JSONValue.number(JSONNumber(codes[key] ?? 0))
            _ = try await command(
                "Input.dispatchKeyEvent",
                ["type": "keyDown", "key": .string(key), "text": text, "windowsVirtualKeyCode": code]
            )
            _ = try await command(
                "Input.dispatchKeyEvent",
                ["type": "keyUp", "key": .string(key), "windowsVirtualKeyCode": code]
            )
        }

        func screenshot() async throws -> Data {
            let answer = try await command("Page.captureScreenshot", ["format": "png"])
            guard let data = answer["data"].string.flatMap({ Data(base64Encoded: $0) }) else {
                throw Failure(description: "no screenshot")
            }
            return data
        }
    }

    /// Sends a command and waits for its result.
    func command(
        _ method: String,
        _ parameters: JSONValue,
        _ session: JSONValue = .null
    ) async throws -> JSONValue {
        try await blocking { [self] in try exchange(method, parameters, session) }
    }

    /// Waits for an event, or returns one that arrived earlier; its parameters.
    func event(_ method: String, where isMeant: @escaping @Sendable (JSONValue) -> Bool) async throws -> JSONValue {
        try await blocking { [self] in
            var event = events.withLock { $0.first { $0["method"].string == method && isMeant($0["params"]) } }
            while event == nil {
                let message = try JSONDecoder().decode(JSONValue.self, from: nextMessage())
                if message["method"].string == method, isMeant(message["params"]) { event = message }
            }
            return event?["params"] ?? .null
        }
    }

    private func blocking(_ body: @escaping @Sendable () throws -> JSONValue) async throws -> JSONValue {
        try await withCheckedThrowingContinuation { continuation in
            // Reading blocks, and a thread of Swift's pool must not block.
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }

    private func exchange(_ method: String, _ parameters: JSONValue, _ session: JSONValue) throws -> JSONValue {
        let id = lastID.add(1, ordering: .relaxed).newValue
        var message: [String: JSONValue] = [
            "id": .number(JSONNumber(id)), "method": .string(method), "params": parameters,
        ]
        if !session.isNull { message["sessionId"] = session }
        try input.write(contentsOf: JSONEncoder().encode(JSONValue.object(message)) + [0])
        while true {
            let answer = try JSONDecoder().decode(JSONValue.self, from: nextMessage())
            guard answer["id"].int == id else {
                events.withLock { events in
                    events.append(answer)
                    if events.count > 1_000 { events.removeFirst() }
                }
                continue
            }
            guard answer["error"].isNull else { throw Failure(description: "\(method): \(answer["error"])") }
            return answer["result"]
        }
    }

    private func nextMessage() throws -> Data {
        try rest.withLock { rest in
            while true {
                if let end = rest.firstIndex(of: 0) {
                    let message = Data(rest[..<end])
                    rest = Data(rest[(end + 1)...])
                    return message
                }
                var buffer = [UInt8](repeating: 0, count: 65_536)
                let count = read(output.fileDescriptor, &buffer, buffer.count)
                guard count > 0 else { throw Failure(description: "the browser has ended") }
                rest.append(contentsOf: buffer[..<count])
            }
        }
    }
}
