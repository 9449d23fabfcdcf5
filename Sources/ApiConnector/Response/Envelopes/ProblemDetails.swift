// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Problem details (RFC 9457), the body of a response of type `application/problem+json`.
///
/// Every error about such a response contains the problem details in ``ApiConnectorError/problem``. A router can also
/// use the envelope `BareEnvelope<ProblemDetails>`.
public struct ProblemDetails: ApiModel, Error, Hashable {
    /// A URI that identifies the kind of problem; `about:blank` if there is none.
    public var type: String

    /// A short description of the kind of problem.
    public var title: String?

    /// The HTTP status.
    public var status: Int?

    /// A description of this occurrence.
    public var detail: String?

    /// A URI that identifies this occurrence.
    public var instance: String?

    /// Makes problem details, for example for a test.
    public init(
        type: String = "about:blank",
        title: String? = nil,
        status: Int? = nil,
        detail: String? = nil,
        instance: String? = nil
    ) {
        self.type = type
        self.title = title
        self.status = status
        self.detail = detail
        self.instance = instance
    }

    /// Decodes problem details; a member of the wrong type is ignored, as RFC 9457 requires.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) -> String? { try? object.decodeIfPresent(String.self, forKey: key) }
        type = text(.type) ?? "about:blank"
        title = text(.title)
        status = try? object.decodeIfPresent(Int.self, forKey: .status)
        detail = text(.detail)
        instance = text(.instance)
        let isEmpty = object.allKeys.isEmpty
        if isEmpty {
            let context = DecodingError.Context(codingPath: [], debugDescription: "It has no member of RFC 9457.")
            throw DecodingError.dataCorrupted(context)
        }
    }
}

extension ProblemDetails {
    /// The same problem details with known secret values replaced.
    func redacted(by redactor: Redactor) -> ProblemDetails {
        ProblemDetails(
            type: redactor.redactValues(in: type),
            title: title.map { redactor.redactValues(in: $0) },
            status: status,
            detail: detail.map { redactor.redactValues(in: $0) },
            instance: instance.map { redactor.redactValues(in: $0) }
        )
    }
}

extension MediaType {
    /// `application/problem+json` (RFC 9457).
    public static let problemJSON = MediaType("application", "problem+json")
}
