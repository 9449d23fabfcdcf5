// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// The backend's own error in the body of a stream of an array's elements, outside of the array.
struct ArrayFailureTests {
    private struct TypedFailure: Decodable, Sendable {
        let error: CodedFailure
    }

    private static let failure = #""error":{"code":9,"message":"overloaded"}"#

    /// The results of a stream, for bodies in small chunks, in larger ones and as a whole.
    ///
    /// 70,000 chunks of one byte take minutes under a sanitizer.
    private func read<Envelope: ApiEnvelope>(
        _ envelope: Envelope.Type,
        _ text: String,
        at path: String,
        _ configuration: ConnectionConfiguration = ConnectionConfiguration()
    ) async -> [(elements: [Int], error: ApiConnectorError?)] {
        var found: [(elements: [Int], error: ApiConnectorError?)] = []
        for byteCount in text.utf8.count < 1000 ? [1, 7, 1 << 20] : [999, 7000, 1 << 20] {
            let api = CannedConnection<Envelope>(
                environment: Place(),
                provider: TestConnector { _ in
                    .data(Data(text.utf8), headers: ["Content-Type": "application/json"]).chunked(byteCount: byteCount)
                },
                configuration: configuration
            )
            let format = StreamFormat<Int>.elements(at: path)
            found.append(await api.stream(of: Int.self, at: Enveloped(), as: format).readToTheEnd())
            let skipping = StreamFormat<Int>.skippingUndecodable(format)
            found.append(await api.stream(of: Int.self, at: Enveloped(), as: skipping).readToTheEnd())
        }
        return found
    }

    @Test(arguments: ["", "data", "data.items"])
    func failsTheStreamInPlaceOfTheArray(_ path: String) async {
        let wrapped = await read(DataEnvelope<CodedFailure>.self, "{\(Self.failure)}", at: path)
        let more = "{\"n\":[{}],\(Self.failure),\"data\":null}\n"
        let nested = await read(DataEnvelope<CodedFailure>.self, more, at: path)
        let bare = await read(BareEnvelope<TypedFailure>.self, "{\(Self.failure)}", at: path)
        #expect(wrapped.count == 6 && nested.count == 6 && bare.count == 6)
        for found in wrapped + nested + bare {
            #expect(found.elements == [])
            #expect(found.error?.kind == .backendFailure)
        }
        #expect(wrapped[0].error?.failure(as: CodedFailure.self) == CodedFailure(code: 9, message: "overloaded"))
    }

    @Test(arguments: [
        #"{"error":{"code":9,"message":"overloaded"},"data":[1, 2]}"#,
        #"{"data":[1,2],"error":{"code":9,"message":"overloaded"}}"#,
        #" { "n" : [0] , "data" : [ 1 , 2 ] , "error" : {"code":9,"message":"]}"} } "#,
    ])
    func failsTheStreamAfterTheElements(_ text: String) async {
        let found = await read(DataEnvelope<CodedFailure>.self, text, at: "data")
        #expect(found.count == 6)
        for found in found {
            #expect(found.elements == [1, 2])
            #expect(found.error?.kind == .backendFailure)
            #expect(found.error?.failure(as: CodedFailure.self)?.code == 9)
        }
        // A body that decodes as both is the value.
        let bare = await read(BareEnvelope<TypedFailure>.self, text, at: "data")
        #expect(bare.allSatisfy { $0.elements == [1, 2] && $0.error == nil })
    }

    @Test func failsTheStreamOfAnEmptyArray() async {
        for text in ["{\"data\":[],\(Self.failure)}", "{\(Self.failure),\"data\":[ ]}"] {
            let found = await read(DataEnvelope<CodedFailure>.self, text, at: "data")
            #expect(found.count == 6)
            for found in found {
                #expect(found.elements == [])
                #expect(found.error?.kind == .backendFailure)
            }
        }
    }

    @Test(arguments: [
        (#"{"error":null,"data":[1,2]}"#, "data"), (#"{"data":[1,2],"n":{"error":{"code":9}}}"#, "data"), ("[1,2]", ""),
    ])
    func isNotFoundInABodyWithoutAnError(_ text: String, _ path: String) async {
        let found = await read(DataEnvelope<CodedFailure>.self, text, at: path)
        #expect(found.count == 6)
        for found in found {
            #expect(found.elements == [1, 2])
            #expect(found.error == nil)
        }
    }

    @Test func isNotFoundInABodyWithoutTheArray() async {
        let found = await read(DataEnvelope<CodedFailure>.self, #"{"count":1}"#, at: "data")
        #expect(found.count == 6)
        for found in found {
            #expect(found.error?.kind == .decodingFailed)
            #expect(found.error?.detail == "the body has no array at \"data\", at byte 10 of the body")
        }
    }

    private static let large = #""text":""# + String(repeating: "x", count: 70_000) + "\""

    @Test func isNotSearchedForInALargeTextWithoutTheArray() async {
        let without = await read(DataEnvelope<CodedFailure>.self, "{\(Self.large),\(Self.failure)}", at: "data")
        #expect(without.map(\.error?.kind) == Array(repeating: .decodingFailed, count: 6))
    }

    @Test func isFoundInALargeTextAroundTheArray() async {
        for text in [
            "{\"data\":[1],\(Self.large),\(Self.failure)}", "{\(Self.large),\"data\":[1],\(Self.failure)}",
            "{\(Self.failure),\"data\":[1],\(Self.large)}",
        ] {
            let found = await read(DataEnvelope<CodedFailure>.self, text, at: "data")
            #expect(found.map(\.elements) == Array(repeating: [1], count: 6))
            #expect(found.map(\.error?.kind) == Array(repeating: .backendFailure, count: 6))
        }
        let fine = await read(DataEnvelope<CodedFailure>.self, "{\"data\":[1],\(Self.large)}", at: "data")
        #expect(fine.count == 6)
        #expect(fine.allSatisfy { $0.elements == [1] && $0.error == nil })
    }

    /// Each backend may report many problems at once.
    @Test func aLargeErrorIsFound() async {
        let one = #"{"code":9,"message":"\#(String(repeating: "x", count: 100))"}"#
        let many = Array(repeating: one, count: 1000).joined(separator: ",")
        for text in ["{\"data\":[1,2],\"errors\":[\(many)]}", "{\"errors\":[\(many)],\"data\":[1,2]}"] {
            let found = await read(JSONAPIEnvelope<CodedFailure>.self, text, at: "data")
            #expect(found.map(\.elements) == Array(repeating: [1, 2], count: 6))
            #expect(found.map(\.error?.kind) == Array(repeating: .backendFailure, count: 6))
            #expect(found.first?.error?.failure(as: [CodedFailure].self)?.count == 1000)
        }
        let message = String(repeating: "x", count: 70_000)
        let text = #"{"data":[1,2],"error":{"code":9,"message":"\#(message)"}}"#
        let found = await read(DataEnvelope<CodedFailure>.self, text, at: "data")
        #expect(found.map(\.elements) == Array(repeating: [1, 2], count: 6))
        #expect(found.map(\.error?.kind) == Array(repeating: .backendFailure, count: 6))
    }

    /// An envelope in a program: each member may be a part of the error.
    private enum OwnEnvelope: ApiEnvelope {
        struct Failure: Decodable, Sendable {
            let problem: Int
            let details: [String]
        }

        static func open<Value: Decodable>(
            _ type: Value.Type,
            from body: Data,
            with decoder: JSONDecoder
        ) throws -> EnvelopeContent<Value, Failure> {
            .value(try decoder.decode(type, from: body))
        }

        static func failure(in body: Data, with decoder: JSONDecoder) -> Failure? {
            guard let failure = try? decoder.decode(Failure.self, from: body), !failure.details.isEmpty else {
                return nil
            }
            return failure
        }
    }

    @Test func aLargeErrorOfAnotherEnvelopeIsFound() async {
        let detail = String(repeating: "x", count: 70_000)
        let text = #"{"data":[1,2],"problem":3,"details":["\#(detail)"]}"#
        let found = await read(OwnEnvelope.self, text, at: "data")
        #expect(found.map(\.elements) == Array(repeating: [1, 2], count: 6))
        #expect(found.map(\.error?.kind) == Array(repeating: .backendFailure, count: 6))
    }

    private static let largeValues = [
        "\"\(String(repeating: "x", count: 70_000))\"",
        "[\(String(repeating: "{\"a\":[]},", count: 8000))\"]\"]",
        "{\"a\":\"}\(String(repeating: "\\\"", count: 40_000))\"}",
    ]

    /// The limit of a record does not apply to the text around the array.
    @Test(arguments: 0..<3)
    func aLargeMemberNextToTheArrayDoesNotFailTheStream(_ index: Int) async {
        let value = Self.largeValues[index]
        var configuration = ConnectionConfiguration()
        configuration.maximumRecordByteCount = 100
        for (text, path) in [
            ("\"data\":[1,2],\"n\":\(value)", "data"), ("\"n\":\(value),\"data\":[1,2]", "data"),
            ("\"data\":{\"items\":[1,2],\"n\":\(value)}", "data.items"),
        ] {
            let fine = await read(DataEnvelope<CodedFailure>.self, "{\(text)}", at: path, configuration)
            #expect(fine.count == 6)
            #expect(fine.allSatisfy { $0.elements == [1, 2] && $0.error == nil })
            for failing in ["{\(text),\(Self.failure)}", "{\(Self.failure),\(text)}"] {
                let found = await read(DataEnvelope<CodedFailure>.self, failing, at: path, configuration)
                #expect(found.map(\.elements) == Array(repeating: [1, 2], count: 6))
                #expect(found.map(\.error?.kind) == Array(repeating: .backendFailure, count: 6))
            }
            // Without an envelope that wraps values, this text cannot contain an error.
            let bare = await read(BareEnvelope<TypedFailure>.self, "{\(text),\(Self.failure)}", at: path, configuration)
            #expect(bare.count == 6)
            #expect(bare.allSatisfy { $0.elements == [1, 2] && $0.error == nil })
        }
    }

    /// A stream of JSON lines that stays open is not waited for.
    @Test(arguments: [#"{"id":1}"#, "1", #"{"data":null}"#])
    func aTextThatCannotBecomeAnErrorFailsAtOnce(_ text: String) async throws {
        let feed = BodyFeed()
        let api = CannedConnection<DataEnvelope<CodedFailure>>(
            environment: Place(),
            provider: TestConnector { _ in .feed(feed, headers: ["Content-Type": "application/json"]) }
        )
        let reader = Task {
            await api.stream(of: Int.self, at: Enveloped(), as: .elements(at: "data")).readToTheEnd().error
        }
        try await feed.send(Data("\(text)\n".utf8))
        #expect(await reader.value?.kind == .decodingFailed)
    }
}
