// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Synchronization
import Testing

/// The backend's own errors in a stream, as records that also decode as elements.
struct StreamedFailureTests {
    private struct Piece: Codable, Hashable, Sendable {
        var type: String?
        var delta: String?
    }

    private struct TypedPiece: Codable, Hashable, Sendable {
        var type: String
        var delta: String?
    }

    /// An element that has its own error.
    private struct Job: Codable, Hashable, Sendable {
        var id: Int?
        var error: CodedFailure?
    }

    private final class JobObject: Decodable, Sendable {
        let id: Int?
        let error: CodedFailure?
    }

    /// An element with members that it does not decode, which are others each time.
    private struct GeneratedPiece: Decodable, Sendable {
        let id = UUID()
        let createdAt = Date()
        let type: String?
        let delta: String?

        private enum CodingKeys: CodingKey { case type, delta }
    }

    private final class GeneratedObject: Decodable, Sendable {
        let id = UUID()
        let type: String?
        let delta: String?

        private enum CodingKeys: CodingKey { case type, delta }
    }

    /// An element in which a member that is not of its type is nil.
    private struct LenientPiece: Decodable, Sendable {
        let id = UUID()
        let type: String?
        let delta: String?

        private enum CodingKeys: CodingKey { case type, delta }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            type = try? container.decode(String.self, forKey: .type)
            delta = try? container.decode(String.self, forKey: .delta)
        }
    }

    private struct NestedPiece: Decodable, Sendable {
        let piece: GeneratedPiece

        init(from decoder: any Decoder) throws { piece = try GeneratedPiece(from: decoder) }
    }

    private struct GeneratedJob: Decodable, Sendable {
        let token = UUID()
        let id: Int?
        let error: CodedFailure?

        private enum CodingKeys: CodingKey { case id, error }
    }

    /// A class that reads any error.
    private final class JSONJob: Decodable, Sendable {
        let id: Int?
        let error: JSONValue?
    }

    private struct GeneratedFailure: Decodable, Sendable {
        let id = UUID()
        let code: Int?
        let message: String?

        private enum CodingKeys: CodingKey { case code, message }
    }

    /// A failure that decodes from each object.
    private struct OptionalFailure: Codable, Hashable, Sendable {
        var type: String?
        var error: CodedFailure?
    }

    private struct TypedFailure: Codable, Hashable, Sendable {
        let type: String
        let error: CodedFailure
    }

    /// An envelope of a user, whose failures have no known key.
    private enum FlagEnvelope: ApiEnvelope {
        private struct Flag: Decodable {
            let ok: Bool?
            let reason: String?
        }

        static func open<Value: Decodable>(
            _ type: Value.Type,
            from body: Data,
            with decoder: JSONDecoder
        ) throws -> EnvelopeContent<Value, String> {
            if let failure = failure(in: body, with: decoder) { return .failure(failure) }
            return .value(try decoder.decode(type, from: body))
        }

        static func failure(in body: Data, with decoder: JSONDecoder) -> String? {
            let flag = try? decoder.decode(Flag.self, from: body)
            return flag?.ok == false ? flag?.reason : nil
        }
    }

    private static let first = #"{"type":"text","delta":"a \"error\" \u0065"}"#
    private static let failure = #"{"type":"error","error":{"code":9,"message":"overloaded"}}"#

    /// A body of two elements and a third one after the failure, in each format.
    private static func bodies(_ failure: String = failure, _ first: String = first) -> [(type: String, text: String)] {
        [
            ("text/event-stream", "data: \(first)\n\ndata: \(first)\n\nevent: error\ndata: \(failure)\n\ndata: {}\n\n"),
            ("application/x-ndjson", "\(first)\n\(first)\n\(failure)\n{}\n"),
            ("application/json-seq", "\u{1E}\(first)\n\u{1E}\(first)\n\u{1E}\(failure)\n\u{1E}{}\n"),
            ("application/json", "[\(first),\(first),\(failure),{}]"),
        ]
    }

    /// The elements of a stream before its failure, in each format, and the errors.
    private func read<Envelope: ApiEnvelope, Element: Decodable & Sendable>(
        _ envelope: Envelope.Type,
        _ type: Element.Type,
        failure: String = failure,
        first: String = first,
        decoder: JSONDecoder = JSONDecoder()
    ) async -> [(elements: [Element], error: ApiConnectorError?)] {
        var found: [(elements: [Element], error: ApiConnectorError?)] = []
        for body in Self.bodies(failure, first) {
            var configuration = ConnectionConfiguration()
            configuration.decoder = decoder
            let api = CannedConnection<Envelope>(
                environment: Place(),
                provider: TestConnector { _ in
                    .data(Data(body.text.utf8), headers: ["Content-Type": body.type])
                },
                configuration: configuration
            )
            let format: StreamFormat<Element> = body.type == "application/json" ? .elements : .automatic
            for format in [format, .skippingUndecodable(format)] {
                found.append(await api.stream(of: type, at: Enveloped(), as: format).readToTheEnd())
            }
            let results = await api.stream(
                of: Result<Element, ApiConnectorError>.self,
                at: Enveloped(),
                as: .results(format)
            ).readToTheEnd()
            let values = results.elements.map { result in Result { try result.get() } }
            var error: ApiConnectorError?
            if case .failure(let failure)? = results.elements.dropFirst(2).first { error = failure }
            found.append((values.prefix(error == nil ? 4 : 2).compactMap { try? $0.get() }, error))
        }
        return found
    }

    /// As a whole body with both `data` and `error` is an error.
    @Test func failTheStreamAlsoIfTheElementHasAMemberOfTheRecord() async {
        let pieces = await read(DataEnvelope<CodedFailure>.self, Piece.self)
        let typed = await read(DataEnvelope<CodedFailure>.self, TypedPiece.self)
        #expect(pieces.count == 12 && typed.count == 12)
        for found in pieces {
            #expect(found.elements.map(\.type) == ["text", "text"])
            #expect(found.error?.failure(as: CodedFailure.self) == CodedFailure(code: 9, message: "overloaded"))
        }
        for found in typed {
            #expect(found.elements.map(\.type) == ["text", "text"])
            #expect(found.error?.kind == .backendFailure)
        }
    }

    @Test func ofEachKindOfEnvelopeFailTheStream() async {
        let flag = #"{"type":"error","ok":false,"reason":"overloaded"}"#
        let list = #"{"type":"error","errors":[{"title":"overloaded"}]}"#
        let found = [
            await read(BareEnvelope<TypedFailure>.self, Piece.self).map(\.error),
            await read(BareEnvelope<TypedFailure>.self, TypedPiece.self).map(\.error),
            await read(FlagEnvelope.self, Piece.self, failure: flag).map(\.error),
            await read(FlagEnvelope.self, TypedPiece.self, failure: flag).map(\.error),
            await read(JSONAPIEnvelope<JSONAPIError>.self, TypedPiece.self, failure: list).map(\.error),
        ]
        for errors in found { #expect(errors.map(\.?.kind) == Array(repeating: .backendFailure, count: 12)) }
    }

    @Test func withOptionalMembersFailTheStreamOfElementsWithARequiredOne() async {
        let found = await read(BareEnvelope<OptionalFailure>.self, TypedPiece.self)
        #expect(found.count == 12)
        for found in found {
            #expect(found.elements.map(\.type) == ["text", "text"])
            #expect(found.error?.failure(as: OptionalFailure.self)?.error?.code == 9)
        }
    }

    @Test func areFoundDespiteGeneratedMembers() async {
        let flag = #"{"type":"error","ok":false,"reason":"overloaded"}"#
        let found = [
            await read(DataEnvelope<CodedFailure>.self, GeneratedPiece.self).map(\.error),
            await read(DataEnvelope<CodedFailure>.self, GeneratedObject.self).map(\.error),
            await read(DataEnvelope<CodedFailure>.self, LenientPiece.self).map(\.error),
            await read(DataEnvelope<CodedFailure>.self, NestedPiece.self).map(\.error),
            await read(DataEnvelope<GeneratedFailure>.self, Piece.self).map(\.error),
            await read(DataEnvelope<GeneratedFailure>.self, GeneratedPiece.self).map(\.error),
            await read(BareEnvelope<TypedFailure>.self, GeneratedPiece.self).map(\.error),
            await read(BareEnvelope<TypedFailure>.self, LenientPiece.self).map(\.error),
            await read(FlagEnvelope.self, GeneratedPiece.self, failure: flag).map(\.error),
        ]
        for errors in found { #expect(errors.map(\.?.kind) == Array(repeating: .backendFailure, count: 12)) }
    }

    @Test func areElementsIfAnElementWithGeneratedMembersReadsTheirMembers() async {
        let job = #"{"id":1,"error":{"code":9,"message":"overloaded"}}"#
        let jobs = await read(DataEnvelope<CodedFailure>.self, GeneratedJob.self, failure: job)
        let failures = await read(DataEnvelope<GeneratedFailure>.self, GeneratedJob.self, failure: job)
        let objects = await read(DataEnvelope<CodedFailure>.self, JSONJob.self, failure: job)
        #expect(jobs.count == 12 && failures.count == 12 && objects.count == 12)
        for found in jobs + failures {
            #expect(found.error == nil)
            #expect(found.elements.dropFirst(2).first?.error?.code == 9)
        }
        for found in objects {
            #expect(found.error == nil)
            #expect(found.elements.dropFirst(2).first?.error?["code"] == 9)
        }
        let both = #"{"type":"error","delta":"b","error":{"code":9,"message":"overloaded"}}"#
        let pieces = await read(BareEnvelope<TypedFailure>.self, GeneratedPiece.self, failure: both).map(\.elements)
        #expect(pieces.map { $0.dropFirst(2).first?.delta } == Array(repeating: "b", count: 12))
        let lenient = await read(BareEnvelope<TypedFailure>.self, LenientPiece.self, failure: both).map(\.elements)
        #expect(lenient.map { $0.dropFirst(2).first?.delta } == Array(repeating: "b", count: 12))
    }

    @Test func areFoundWithEachStyleOfKeys() async {
        let (snake, custom) = (JSONDecoder(), JSONDecoder())
        snake.keyDecodingStrategy = .convertFromSnakeCase
        custom.keyDecodingStrategy = .custom { path in
            struct Key: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
            return Key(stringValue: path.last?.stringValue.lowercased() ?? "")
        }
        let upper = Self.failure.replacing("\"error\":{", with: "\"ERROR\":{")
        for errors in [
            await read(DataEnvelope<CodedFailure>.self, TypedPiece.self, decoder: snake).map(\.error),
            await read(DataEnvelope<CodedFailure>.self, TypedPiece.self, failure: upper, decoder: custom).map(\.error),
            await read(BareEnvelope<TypedFailure>.self, TypedPiece.self, decoder: snake).map(\.error),
        ] { #expect(errors.map(\.?.kind) == Array(repeating: .backendFailure, count: 12)) }
    }

    /// The element reads what the failure reads, so the error belongs to the element.
    @Test func areElementsIfTheElementReadsTheirMembers() async {
        let job = #"{"id":1,"error":{"code":9,"message":"overloaded"}}"#
        let values = await read(DataEnvelope<CodedFailure>.self, Job.self, failure: job)
        let objects = await read(DataEnvelope<CodedFailure>.self, JobObject.self, failure: job)
        let json = await read(DataEnvelope<CodedFailure>.self, JSONValue.self, failure: job)
        #expect(values.count == 12 && objects.count == 12 && json.count == 12)
        for found in values {
            #expect(found.error == nil)
            #expect(
                found.elements.dropFirst(2).first == Job(id: 1, error: CodedFailure(code: 9, message: "overloaded"))
            )
        }
        for found in objects {
            #expect(found.error == nil)
            #expect(found.elements.dropFirst(2).first?.error?.code == 9)
        }
        for found in json {
            #expect(found.error == nil)
            #expect(found.elements.count == 4)
        }
    }

    /// A body that decodes as both is the value.
    @Test func areElementsIfABareRecordHasMoreThanTheFailure() async {
        let both = #"{"type":"error","delta":"b","error":{"code":9,"message":"overloaded"}}"#
        let problem = #"{"type":"text","delta":"b"}"#
        for elements in [
            await read(BareEnvelope<TypedFailure>.self, Piece.self, failure: both).map(\.elements),
            await read(BareEnvelope<ProblemDetails>.self, Piece.self, failure: problem).map(\.elements),
        ] { #expect(elements.map { $0.dropFirst(2).first?.delta } == Array(repeating: "b", count: 12)) }
    }

    private enum Counted {
        static let count = Mutex(0)
    }

    private struct CountedFailure: Decodable {
        init(from decoder: any Decoder) throws { Counted.count.withLock { $0 += 1 } }
    }

    /// Decoding each record a second time would double the time of a stream.
    @Test func areOnlyDecodedIfTheRecordHasTheirKey() async {
        let found = await read(DataEnvelope<CountedFailure>.self, Piece.self, failure: #"{"type":"text"}"#, first: "{}")
        #expect(found.count == 12)
        #expect(found.allSatisfy { $0.error == nil && $0.elements.count == 4 })
        #expect(Counted.count.withLock { $0 } == 0)
    }

    @Test func thatAreLargeAreElements() async {
        let large = #"{"type":"error","error":{"code":9,"message":""# + String(repeating: "x", count: 70_000) + #""}}"#
        let found = await read(DataEnvelope<CodedFailure>.self, Piece.self, failure: large)
        #expect(found.count == 12)
        #expect(found.allSatisfy { $0.error == nil && $0.elements.count == 4 })
    }

    /// Each member is examined in its own copy of the record, so the product of members and bytes has a limit.
    @Test(arguments: [(2, true), (8, false)])
    func withLargeAndManyMembersAreElements(_ count: Int, _ isFailure: Bool) async {
        let others = (0..<count).map { "\"m\($0)\":1" }.joined(separator: ",")
        let text = String(repeating: "x", count: 40_000)
        let wide = #"{"type":"error","error":{"code":9,"message":"\#(text)"},\#(others)}"#
        let found = await read(DataEnvelope<CodedFailure>.self, Piece.self, failure: wide)
        #expect(found.count == 12)
        #expect(found.allSatisfy { ($0.error != nil) == isFailure && $0.elements.count == (isFailure ? 2 : 4) })
    }
}
