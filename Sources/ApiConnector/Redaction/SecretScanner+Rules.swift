// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension SecretScanner {
    /// The maximum length of a name; longer words and keys are not names.
    static let maximumNameCount = 256

    /// Handles `"name": value` of JSON and `"name" => value` of other formats, in any quotes and escaped to any depth.
    mutating func passQuote() {
        let quote = index
        index += 1
        guard let (name, close, value) = key(openedBy: quote) else {
            return isTokenWithoutName(quote) ? replaceString(at: quote) : note(quote)
        }
        if isSecretKey(name) || isSecretValue(name) || mayHoldToken(name, value) {
            useAnnouncement(for: name)
            pendingKeys.append((close, value))
        } else {
            noteName(name, value, keyStart: quote)
            noteTokenName(name, close, value)
            note(quote)
        }
    }

    /// Replaces the value of each secret key or tag after the scan has reached the end of that key or tag.
    mutating func replacePending() {
        while let (start, level) = pendingValue {
            pendingValue = nil
            replaceValue(at: start, level: level)
        }
        while let next = pendingKeys.firstIndex(where: { $0.close <= index }) {
            let (close, value) = pendingKeys.remove(at: next)
            replaceKeyedValue(at: value, key: close)
        }
        if let (name, end) = pendingTag, index > end {
            pendingTag = nil
            replace(end + 1..<closingTag(of: name, from: end + 1))
        }
    }

    /// Handles `name=value`, `name: value`, `Bearer value`, or a token that is recognized by its form.
    mutating func passWord() {
        let start = index
        let end = first(from: start) { !Self.isName($0.byte) }
        if end - start >= Self.minimumTokenCount, isTokenStart(start) { return replace(start..<end) }
        if let key = privateKey(at: start) { return replace(key) }
        index = end
        guard end - start <= Self.maximumNameCount else { return }
        let next = blanksEnd(end) { Self.isBlank($0) }
        switch byte(next) {
        case UInt8(ascii: "="): passAssignment(start..<end, separator: next)
        case UInt8(ascii: ":"): passLabel(start..<end, separator: next)
        default: passScheme(start..<end, next: next)
        }
    }

    /// Handles user info between two slashes and an at sign.
    ///
    /// If there is none, skips the host and port.
    mutating func passSlash() {
        guard byte(index + 1) == UInt8(ascii: "/") else { return index += 1 }
        let level = units[index + 1].level
        let start = index + 2
        let end = first(from: start) { unit in
            unit.level.isWithin(level) && (Self.authorityEnds.contains(unit.byte) || Self.isNewline(unit.byte))
                || closesOpenQuote(unit, level: level)
        }
        let at = (start..<end).last { units[$0].byte == UInt8(ascii: "@") && units[$0].level.isWithin(level) }
        if let at {
            replace(start..<at)
            index = at
        } else if isHost(start..<end) {
            index = end
        } else if let at = lastAt(inRunAt: start) {
            // In "http://user:pass/word@host", the text before the slash is not a valid port, so it may be a password.
            replace(start..<at)
        } else if end == units.count, end > start {
            // The same text, but cut off before the at sign.
            replace(start..<end)
        } else {
            index = start
        }
    }

    /// Handles `<name>…</name>` of XML.
    mutating func passTag() {
        let start = index + 1
        index = start
        var name = start..<first(from: start) { !Self.isName($0.byte) }
        if byte(name.upperBound) == UInt8(ascii: ":") {
            name = name.upperBound + 1..<first(from: name.upperBound + 1) { !Self.isName($0.byte) }
        }
        guard !name.isEmpty, name.count <= Self.maximumNameCount,
            let next = byte(name.upperBound), next == UInt8(ascii: ">") || Self.isBlank(next) || Self.isNewline(next),
            redactor.isSecret(field: text(name))
        else { return }
        let end = first(from: name.upperBound) { $0.byte == UInt8(ascii: ">") || $0.byte == UInt8(ascii: "<") }
        guard byte(end) == UInt8(ascii: ">"), byte(end - 1) != UInt8(ascii: "/") else { return }
        pendingTag = (start..<name.upperBound, end)
    }

    /// Handles the value of a multipart form's field, from the blank line after its name to the next boundary.
    mutating func passNewline() {
        index += 1
        guard let announcement, let next = byte(index) else { return }
        let start = next == UInt8(ascii: "\r") && byte(index + 1) == UInt8(ascii: "\n") ? index + 2 : index + 1
        guard byte(start - 1) == UInt8(ascii: "\n") else { return }
        if announcement.kind != .member { self.announcement = nil }
        guard announcement.kind == .parameter || announcement.kind == .tag else { return }
        var end = start - 1
        repeat {
            end = first(from: end + 1) { $0.byte == UInt8(ascii: "\n") }
        } while end < units.count && !(byte(end + 1) == UInt8(ascii: "-") && byte(end + 2) == UInt8(ascii: "-"))
        if end > start, byte(end - 1) == UInt8(ascii: "\r") { end -= 1 }
        replace(start..<max(start, end))
    }
}

extension SecretScanner {
    private mutating func passAssignment(_ word: Range<Int>, separator: Int) {
        let name = text(word)
        let previous = byte(word.lowerBound - 1)
        let isItem = place == .form || previous.map(Self.itemStarts.contains) ?? false
        let value = valueStart(behind: separator, skippingBlanks: separator > word.upperBound)
        let isSecret = isItem ? redactor.isSecret(queryItem: name) : redactor.isSecret(field: name)
        guard isSecret || isSecretValue(name) else { return noteName(name, value, keyStart: word.lowerBound) }
        useAnnouncement(for: name)
        replaceValue(at: value, level: units[separator].level)
    }

    private mutating func passLabel(_ word: Range<Int>, separator: Int) {
        let name = text(word)
        let isField = redactor.isSecret(field: name)
        let isHeader = isField || redactor.isSecret(headerInText: name)
        let value = valueStart(behind: separator, skippingBlanks: true)
        // "http://auth:8080/" and "auth:8080" name a host.
        let isHost = value == separator + 1 && isPort(value) && Self.isHostName(name)
        guard isHeader && !isHost || isSecretValue(name) else {
            return noteName(name, value, keyStart: word.lowerBound, isLabel: true)
        }
        useAnnouncement(for: name)
        let isOfJSON = byte(value).map { Self.isQuote($0) || Self.isBracket($0) } ?? false
        let isLine = startsLine(word.lowerBound) || isHeader && name.contains("-")
        if Self.wordyHeaders.contains(SecretNames.normalized(name)) || isLine && !isOfJSON {
            let level = units[separator].level
            let end = valueEnd(from: value, level: level, Self.isNewline)
            replaceWord(value..<foldedEnd(from: end, valueAt: value, nameAt: word.lowerBound, level), level: level)
        } else {
            replaceValue(at: value, level: units[separator].level)
        }
    }

    /// Whether one to five digits at an index are a word: `8080`, but not `9f8e` and not `4/0AX4`, which is a code.
    private func isPort(_ start: Int) -> Bool {
        let end = first(from: start) { !Self.isDigit($0.byte) }
        let isWord = byte(end).map { !Self.isName($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "]") } ?? true
        return 1...5 ~= end - start && isWord && (end - start > 1 || byte(end) != UInt8(ascii: "/"))
    }

    private static func isHostName(_ name: String) -> Bool {
        hosts.contains(name.lowercased().trimmingCharacters(in: .decimalDigits))
    }

    private mutating func passScheme(_ word: Range<Int>, next: Int) {
        guard word.count <= 6, Self.isScheme(text(word)) else { return }
        let start = byte(next) == UInt8(ascii: "+") ? next + 1 : next
        guard start > word.upperBound, byte(start).map(Self.isQuote) == false else { return }
        // `Bearer realm="…"` is a challenge, not a credential.
        let credential = first(from: start) { !Self.credentialBytes.contains($0.byte) }
        if credential > start, byte(credential - 1) == UInt8(ascii: "="), byte(credential).map(Self.isQuote) == true {
            return
        }
        let level = units[word.upperBound].level
        let end = valueEnd(from: start, level: level, Self.isTextEnd)
        let words = text(start..<min(end, start + 20)).lowercased().trimmingCharacters(in: .punctuationCharacters)
        if !Self.prose.contains(words), !Self.isScheme(words) { replaceWord(start..<end, level: level) }
    }

    private static let authorityEnds = ByteSet("/?#\\ \t<>")
    private static let itemStarts = ByteSet("?&#;")
    private static let credentialBytes = ByteSet(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/="
    )
    /// Header fields whose values contain spaces and extend to the end of the line.
    private static let wordyHeaders: Set<String> = ["authorization", "cookie", "proxyauthorization", "setcookie"]
    private static let hosts: Set<String> = ["auth", "session", "signature"]

    /// Words after "basic" and "bearer" in a sentence.
    private static let prose: Set<String> = [
        "access", "and", "auth", "authentication", "authorization", "credential", "credentials", "error", "is", "or",
        "realm", "scheme", "token", "tokens", Redactor.replacement.lowercased(),
    ]

}

extension SecretScanner {
    func key(openedBy quote: Int) -> (name: String, close: Int, value: Int)? {
        guard let close = closing(of: quote, limit: Self.maximumNameCount) else { return nil }
        let separator = blanksEnd(close + 1, limit: Self.maximumNameCount) { Self.isBlank($0) || Self.isNewline($0) }
        guard isSeparator(separator) else { return nil }
        return (text(quote + 1..<close), close, valueStart(behind: separator))
    }

    /// Finds secret keys in a replaced range, because their values may be outside of it.
    mutating func noteKeys(in range: Range<Int>) {
        let unnoted = max(range.lowerBound, notedEnd)..<max(range.upperBound, notedEnd)
        notedEnd = unnoted.upperBound
        for quote in unnoted.suffix(2 * Self.maximumNameCount) where Self.isQuote(units[quote].byte) {
            guard let (name, close, value) = key(openedBy: quote), isSecretKey(name) else { continue }
            pendingKeys.append((close, value))
        }
    }

    func isSecretKey(_ name: String) -> Bool { redactor.isSecret(nameInText: name) }

    /// Whether this name is `value`, and a pair before it announced a secret.
    private func isSecretValue(_ name: String) -> Bool {
        announcement != nil && SecretNames.normalized(name) == "value"
    }

    /// Forgets the announcement at the `value` that it is for, which is not in an inner object.
    private mutating func useAnnouncement(for name: String) {
        if announcement?.depth == 0, isSecretValue(name) { announcement = nil }
    }
}
