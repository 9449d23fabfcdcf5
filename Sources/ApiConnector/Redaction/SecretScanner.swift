// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Replaces the secrets in a text in one pass.
///
/// It takes one ``SecretToken`` after the other, and applies the rule for this kind of token. A range that a rule has
/// replaced or skipped is not scanned again, and look-ahead is bounded. So the scan takes linear time.
struct SecretScanner {
    private let text: SecretText
    private let redactor: Redactor
    /// The index of the next token.
    private var index = 0
    private var quotes = OpenQuotes()
    private var authority = Authority()
    /// The replaced ranges, and the longest one that was replaced elsewhere than at the index.
    private var replaced: [Redactor.SecretPlace] = []
    private var elsewhere = 0..<0
    private var expected = ExpectedSecrets()
    private var pairs = SecretPairs()
    private var tokenResponse = TokenResponse()

    init(_ bytes: [UInt8], in place: SecretText.Place, redactor: Redactor) {
        text = SecretText(bytes, in: place)
        self.redactor = redactor
    }

    /// The places of the secrets, in order and without overlaps.
    mutating func places() -> [Redactor.SecretPlace] {
        while index < text.count {
            replaceReached()
            guard index < text.count else { break }
            let start = index
            let (token, end) = text.token(at: start, in: quotes)
            index = end
            apply(token, at: start)
        }
        return Redactor.SecretPlace.united(replaced)
    }

    // MARK: - Rules

    private mutating func apply(_ token: SecretToken, at start: Int) {
        switch token {
        case .secret(let range): replace(range)
        case .key(let key): apply(key, openedBy: start)
        case .quote where isTokenWithoutName(start): replace(text.string(openedBy: start))
        case .quote: quotes.pass(start, of: text)
        case .slashes: replaceUserInfo(from: index)
        case .tag(let tag, let name):
            if redactor.isSecret(field: text.string(name)) { expected.add(tag: tag, in: text) }
        case .newline: replaceFormPart()
        case .bracket(let bracket): pairs.pass(bracket, isInQuotes: !quotes.isEmpty)
        case .assignment(let word, let separator): applyAssignment(word, separator)
        case .label(let word, let separator): applyLabel(word, separator)
        case .scheme(let scheme, let credential): replaceCredential(from: credential, after: scheme)
        case .other: break
        }
    }

    private mutating func apply(_ key: SecretText.Key, openedBy quote: Int) {
        // A key of a token endpoint's response may have a token, unless it is known to be harmless.
        let mayHoldToken = redactor.isForTokens && SecretNames.mayHoldToken(key.name)
        if isSecretKey(key.name) || pairs.announces(key.name) || mayHoldToken && text.isTextOrArray(key.value) {
            pairs.use(for: key.name)
            expected.add(key)
        } else {
            noteName(key.name, key.value, keyStart: quote)
            for token in tokenResponse.add(key, of: text) { replaceElsewhere(value: token.value, key: token.close) }
            quotes.pass(quote, of: text)
        }
    }

    private mutating func applyAssignment(_ word: Range<Int>, _ separator: Int) {
        let name = text.string(word)
        let isItem = text.place == .form || text.byte(word.lowerBound - 1).map(Self.itemStarts.contains) ?? false
        let value = text.valueStart(after: separator, skippingBlanks: separator > word.upperBound)
        let isSecret = isItem ? redactor.isSecret(queryItem: name) : redactor.isSecret(field: name)
        guard isSecret || pairs.announces(name) else { return noteName(name, value, keyStart: word.lowerBound) }
        pairs.use(for: name)
        replaceValue(at: value, level: text.units[separator].level)
    }

    private mutating func applyLabel(_ word: Range<Int>, _ separator: Int) {
        let name = text.string(word)
        let isField = redactor.isSecret(field: name)
        let isHeader = isField || redactor.isSecret(headerInText: name)
        let value = text.valueStart(after: separator, skippingBlanks: true)
        // "http://auth:8080/" and "auth:8080" name a host.
        let isHost =
            value == separator + 1 && text.isPort(value)
            && Self.hosts.contains(name.lowercased().trimmingCharacters(in: .decimalDigits))
        guard isHeader && !isHost || pairs.announces(name) else {
            return noteName(name, value, keyStart: word.lowerBound, isLabel: true)
        }
        pairs.use(for: name)
        let level = text.units[separator].level
        let isOfJSON = text.byte(value).map { SecretText.isQuote($0) || SecretText.isBracket($0) } ?? false
        let isLine = text.startsLine(word.lowerBound) || isHeader && name.contains("-")
        if Self.wordyHeaders.contains(SecretNames.normalized(name)) || isLine && !isOfJSON {
            let end = text.foldedEnd(from: value, nameAt: word.lowerBound, level: level, in: quotes)
            replaceWords(value..<end, level: level)
        } else {
            replaceValue(at: value, level: level)
        }
    }

    private mutating func replaceCredential(from start: Int, after scheme: Range<Int>) {
        // `Bearer realm="…"` is a challenge, not a credential.
        let word = text.first(from: start) { !CredentialForm.token68.contains($0.byte) }
        if word > start, text.byte(word - 1) == UInt8(ascii: "="), text.byte(word).map(SecretText.isQuote) == true {
            return
        }
        let level = text.units[scheme.upperBound].level
        let end = text.valueEnd(from: start, level: level, in: quotes)
        let words = text.string(start..<min(end, start + 20)).lowercased()
            .trimmingCharacters(in: .punctuationCharacters)
        if !Self.prose.contains(words), !SecretText.isScheme(words) { replaceWords(start..<end, level: level) }
    }

    /// Replaces user info between two slashes and an at sign.
    ///
    /// If there is none, skips the host and port.
    private mutating func replaceUserInfo(from start: Int) {
        let level = text.units[start - 1].level
        let end = text.first(from: start) { unit in
            unit.level.isWithin(level)
                && (Self.authorityEnds.contains(unit.byte) || SecretText.isNewline(unit.byte))
                || quotes.end(with: unit, level: level)
        }
        let at = (start..<end).last {
            text.units[$0].byte == UInt8(ascii: "@") && text.units[$0].level.isWithin(level)
        }
        if let at {
            replace(start..<at)
        } else if text.isHost(start..<end) {
            index = end
        } else if let at = authority.lastAt(from: start, in: text) {
            // In "http://user:pass/word@host", the text before the slash is not a valid port, so it may be a password.
            replace(start..<at)
        } else if end == text.count, end > start {
            // The same text, but cut off before the at sign.
            replace(start..<end)
        }
    }

    /// Replaces the value of a multipart form's field, from the blank line after its name to the next boundary.
    private mutating func replaceFormPart() {
        guard let next = text.byte(index) else { return }
        let start = next == UInt8(ascii: "\r") && text.byte(index + 1) == UInt8(ascii: "\n") ? index + 2 : index + 1
        guard text.byte(start - 1) == UInt8(ascii: "\n"), pairs.endAtEmptyLine() else { return }
        var end = start - 1
        repeat {
            end = text.first(from: end + 1) { $0.byte == UInt8(ascii: "\n") }
        } while end < text.count && !text.begins("--", at: end + 1)
        if end > start, text.byte(end - 1) == UInt8(ascii: "\r") { end -= 1 }
        replace(start..<max(start, end))
    }

    /// Records whether a pair such as `"name": "password"` announces a secret: the next or the last `value`.
    ///
    /// Without quotes, only a parameter, a line and an item of a form announce a secret, such as `form-data;
    /// name=password`.
    private mutating func noteName(_ name: String, _ value: Int, keyStart: Int, isLabel: Bool = false) {
        guard name.utf8.count < 16, ["key", "name"].contains(SecretNames.normalized(name)) else { return }
        let isLine = isLabel && text.startsLine(keyStart)
        let isQuoted = text.byte(value).map(SecretText.isQuote) == true
        let announced: String
        if isQuoted {
            guard let close = text.closing(of: value, limit: SecretText.maximumNameCount) else { return }
            announced = text.string(value + 1..<close)
        } else {
            guard isLine || text.place == .form || text.isParameter(keyStart) else { return }
            announced = text.string(value..<text.first(from: value) { !SecretText.isName($0.byte) })
        }
        guard isSecretKey(announced) else { return pairs.passName() }
        let kind: SecretPairs.Kind =
            text.byte(keyStart).map(SecretText.isQuote) == true
            ? .member : text.isParameter(keyStart) ? .parameter : isLine ? .line : .tag
        pairs.announce(kind, isQuoted: !quotes.isEmpty)
        if isQuoted, let before = pairs.valueBefore(keyStart, quoteAt: value, in: text) {
            replaceElsewhere(value: before, key: value)
        }
    }

    private func isSecretKey(_ name: String) -> Bool { redactor.isSecret(nameInText: name) }

    /// Whether a string in a token endpoint's response is not a member of an object, so that it may be a token.
    private func isTokenWithoutName(_ quote: Int) -> Bool {
        guard redactor.isForTokens, text.place == .text else { return false }
        let previous = text.byte(before: quote) { SecretText.isBlank($0) || SecretText.isNewline($0) }
        return previous.map { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: ",") } ?? true
    }

    private static let authorityEnds = ByteSet("/?#\\ \t<>")
    private static let itemStarts = ByteSet("?&#;")
    /// Header fields whose values contain spaces and extend to the end of the line.
    private static let wordyHeaders: Set<String> = ["authorization", "cookie", "proxyauthorization", "setcookie"]
    private static let hosts: Set<String> = ["auth", "session", "signature"]

    /// Words after "basic" and "bearer" in a sentence.
    private static let prose: Set<String> = [
        "access", "and", "auth", "authentication", "authorization", "credential", "credentials", "error", "is", "or",
        "realm", "scheme", "token", "tokens", Redactor.replacement.lowercased(),
    ]
}

// MARK: - Values

extension SecretScanner {
    /// Replaces a range of characters, and continues after it.
    ///
    /// Characters that were already replaced are skipped. If `quote`, the index of a key's quote, is given, the
    /// replacement is put in the same quotes.
    private mutating func replace(_ whole: Range<Int>, quotedLike quote: Int? = nil) {
        let start = max(whole.lowerBound, index)
        let range = start..<max(whole.upperBound, start)
        index = range.upperBound
        guard !range.isEmpty else { return }
        let marks = quote.map { text.bytes[text.offset($0)..<text.offset($0 + 1)] } ?? []
        let bytes = text.offset(range.lowerBound)..<text.offset(range.upperBound)
        replaced.append(Redactor.SecretPlace(range: bytes, quote: Array(marks)))
    }

    private mutating func replace(_ value: SecretText.Value) {
        replace(value.content, quotedLike: value.quote)
        index = max(index, value.end)
        if let string = value.string { expected.addKeys(in: string, of: text, redactor) }
    }

    /// Replaces the value of each secret key or tag after the scan has reached the end of that key or tag.
    private mutating func replaceReached() {
        while let key = expected.nextKey(endingBefore: index) { replace(text.value(at: key.value, key: key.close)) }
        if let content = expected.tagContent(endingBefore: index, in: text) { replace(content) }
    }

    /// Replaces a value that the scan has passed, or has not reached yet, and continues where it was.
    ///
    /// Many values may begin within one that ends with the text. These are not scanned again, so the time is linear.
    private mutating func replaceElsewhere(value start: Int, key: Int) {
        guard !elsewhere.contains(start) else { return }
        let old = index
        index = start
        replace(text.value(at: start, key: key))
        if index - start > elsewhere.count { elsewhere = start..<index }
        index = old
    }

    /// Replaces the value of an unquoted name, and the value of each name that ends such a value.
    private mutating func replaceValue(at start: Int, level: TextUnit.Level) {
        let isRaw = text.place == .form && level == TextUnit.Level()
        var next: Int? = start
        while let value = next {
            next = nil
            if !isRaw, let first = text.byte(value), !quotes.end(with: text.units[value], level: level) {
                if text.opensString(value, level: level) { return replace(text.string(openedBy: value)) }
                if SecretText.isBracket(first) { return replace(value..<text.containerEnd(from: value, level: level)) }
            }
            let end = text.valueEnd(from: value, level: level, in: quotes)
            if text.place == .text, SecretText.isScheme(text.string(value..<min(end, value + 8))) {
                // The word after the name of a scheme is the credential, which the rule for schemes replaces.
                index = value
            } else {
                next = replaceWord(value..<end)
            }
        }
    }

    /// Replaces an unquoted value, and the value of a name that ends it.
    private mutating func replaceWords(_ words: Range<Int>, level: TextUnit.Level) {
        if let value = replaceWord(words) { replaceValue(at: value, level: level) }
    }

    /// Replaces an unquoted value.
    ///
    /// - Returns: The beginning of another value if this one ends with `:` or `=`, and so perhaps with another name.
    private mutating func replaceWord(_ word: Range<Int>) -> Int? {
        replace(word)
        guard text.place == .text, !word.isEmpty else { return nil }
        expected.addKeys(in: word, of: text, redactor)
        return text.isSeparator(word.upperBound - 1) ? text.blanksEnd(word.upperBound) : nil
    }
}

/// The secret keys and tags whose ends the scan has not reached yet.
///
/// The scan continues within a key or a tag, because it may itself contain secrets.
private struct ExpectedSecrets {
    private var keys: [SecretText.Key] = []
    private var tag: (name: Range<Int>, end: Int)?
    /// The index up to which replaced ranges were searched for keys.
    private var searchedEnd = 0

    mutating func add(_ key: SecretText.Key) { keys.append(key) }

    /// Expects the content of a tag, unless the tag is empty or cut off.
    mutating func add(tag name: Range<Int>, in text: SecretText) {
        let end = text.first(from: name.upperBound) { $0.byte == UInt8(ascii: ">") || $0.byte == UInt8(ascii: "<") }
        guard text.byte(end) == UInt8(ascii: ">"), text.byte(end - 1) != UInt8(ascii: "/") else { return }
        tag = (name, end)
    }

    /// Expects the values of secret keys in a replaced range, because these values may be outside of it.
    mutating func addKeys(in range: Range<Int>, of text: SecretText, _ redactor: Redactor) {
        let unsearched = max(range.lowerBound, searchedEnd)..<max(range.upperBound, searchedEnd)
        searchedEnd = unsearched.upperBound
        for quote in unsearched.suffix(2 * SecretText.maximumNameCount)
        where SecretText.isQuote(text.units[quote].byte) {
            if let key = text.key(openedBy: quote), redactor.isSecret(nameInText: key.name) { add(key) }
        }
    }

    mutating func nextKey(endingBefore index: Int) -> SecretText.Key? {
        keys.firstIndex { $0.close <= index }.map { keys.remove(at: $0) }
    }

    mutating func tagContent(endingBefore index: Int, in text: SecretText) -> Range<Int>? {
        guard let (name, end) = tag, index > end else { return nil }
        tag = nil
        return end + 1..<text.closingTag(of: name, from: end + 1)
    }
}

/// The last at sign of a run without blanks, which is searched once for all slashes of the run.
private struct Authority {
    private var end = 0
    private var at: Int?

    /// The last at sign before the next blank, at or after an index.
    mutating func lastAt(from start: Int, in text: SecretText) -> Int? {
        if start >= end {
            end = text.first(from: start) { SecretText.isBlank($0.byte) || SecretText.isNewline($0.byte) }
            at = (start..<end).last { text.units[$0].byte == UInt8(ascii: "@") }
        }
        return at.flatMap { $0 >= start ? $0 : nil }
    }
}
