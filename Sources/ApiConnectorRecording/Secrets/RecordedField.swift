// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A part of an exchange that can contain a secret.
enum RecordedField {
    case url
    case header(HTTPHeaders.Name)
    case body(MediaType?)
    /// The text of an error.
    case text
}

/// A replacement for a range of a field's bytes.
struct FieldEdit {
    var range: Range<Int>
    var replacement: [UInt8]
}

extension RecordedExchange {
    /// Calls a closure with each field, the name for the field in error texts (such as "its URL"), and the field's
    /// bytes.
    func forEachField(_ body: (RecordedField, _ name: String, [UInt8]) -> Void) {
        body(.url, "its URL", Array(url.utf8))
        for field in headers { body(.header(field.name), "its header field \(field.name)", Array(field.value.utf8)) }
        if let bytes = self.body { body(.body(mediaType), "its body", Array(bytes)) }
        for field in answerHeaders {
            body(.header(field.name), "the answer's header field \(field.name)", Array(field.value.utf8))
        }
        body(.body(answerMediaType), "the answer's body", Array(answer))
        if case .failed(let failure) = end { body(.text, "its error", Array(failure.detail.utf8)) }
    }

    /// Applies a closure's edits to every field.
    ///
    /// The ends of the chunks are adjusted to the edited body.
    mutating func edit(_ edits: (RecordedField, [UInt8]) -> [FieldEdit]) {
        func edited(_ field: RecordedField, _ text: String) -> String {
            let bytes = Array(text.utf8)
            let found = edits(field, bytes)
            return found.isEmpty ? text : String(decoding: FieldEdit.apply(found, to: bytes), as: UTF8.self)
        }
        func edited(_ headers: HTTPHeaders) -> HTTPHeaders {
            headers.reduce(into: HTTPHeaders()) { $0.append($1.name, edited(.header($1.name), $1.value)) }
        }
        let (mediaType, answerMediaType) = (mediaType, answerMediaType)
        url = edited(.url, url)
        headers = edited(headers)
        if let bytes = body.map({ Array($0) }) {
            let found = edits(.body(mediaType), bytes)
            if !found.isEmpty {
                body = Data(FieldEdit.apply(found, to: bytes))
                headers.moveLength(from: bytes.count, to: body?.count ?? 0)
            }
        }
        answerHeaders = edited(answerHeaders)
        let bytes = Array(answer)
        let found = edits(.body(answerMediaType), bytes)
        if !found.isEmpty {
            answer = Data(FieldEdit.apply(found, to: bytes))
            answerHeaders.moveLength(from: bytes.count, to: answer.count)
            for index in chunks.indices { chunks[index].end = FieldEdit.moved(chunks[index].end, by: found) }
        }
        if case .failed(var failure) = end {
            failure.detail = edited(.text, failure.detail)
            end = .failed(failure)
        }
    }
}

extension HTTPHeaders {
    /// Updates the `Content-Length` if it was correct before the edit.
    fileprivate mutating func moveLength(from old: Int, to new: Int) {
        if self[.contentLength] == "\(old)" { self[.contentLength] = "\(new)" }
    }
}

extension FieldEdit {
    /// Applies edits, which are in order and do not overlap.
    static func apply(_ edits: [FieldEdit], to bytes: [UInt8]) -> [UInt8] {
        var edited: [UInt8] = []
        var copied = 0
        for edit in edits {
            edited += bytes[copied..<edit.range.lowerBound] + edit.replacement
            copied = edit.range.upperBound
        }
        return edited + bytes[copied...]
    }

    /// The position of a place after the edits.
    ///
    /// A place within an edit moves to the end of the edit.
    static func moved(_ place: Int, by edits: [FieldEdit]) -> Int {
        var distance = 0
        for edit in edits where edit.range.lowerBound < place {
            if place < edit.range.upperBound {
                return edit.range.lowerBound + distance + edit.replacement.count
            }
            distance += edit.replacement.count - edit.range.count
        }
        return place + distance
    }

    /// The edits in order of their ranges.
    ///
    /// Edits that overlap become one edit. It covers their ranges, and has the replacement of the edit that starts
    /// first. If they start at the same position, it has the replacement of the edit that is first in the list.
    static func united(_ edits: [FieldEdit]) -> [FieldEdit] {
        let ordered = edits.enumerated().sorted { left, right in
            (left.element.range.lowerBound, left.offset) < (right.element.range.lowerBound, right.offset)
        }
        return ordered.map(\.element).unitingOverlaps(of: \.range)
    }
}
