// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Problem details (RFC 9457): what a response of type `application/problem+json` holds.
///
/// Every error about such a response carries it as ``ApiConnectorError/problem``; a router may also name
/// `BareEnvelope<ProblemDetails>`.
public struct ProblemDetails: ApiModel, Error, Hashable {
    /// A URI that names the kind of problem; `about:blank` where there is none.
    public var type: String

    /// What kind of problem it is, in words.
    public var title: String?

    /// The HTTP status.
    public var status: Int?

    /// What happened this time, in words.
    public var detail: String?

    /// A URI that names this occurrence.
    public var instance: String?

    /// Makes problem details, such as for a test.
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

    /// Reads problem details; as RFC 9457 demands, a member of the wrong type is taken for absent.
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
    /// The same with the known values of secrets replaced.
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
