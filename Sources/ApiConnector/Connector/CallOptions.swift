// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Settings for one call that override those of its connection; nil uses the connection's setting.
public struct CallOptions: Sendable {
    /// Header fields, which override all others of the same name; none by default.
    public var headers: HTTPHeaders

    /// The checks that a response has to pass.
    public var validation: ResponseValidation?

    /// The encoder for a JSON body.
    public var encoder: JSONEncoder?

    /// The decoder for JSON.
    public var decoder: JSONDecoder?

    /// The maximum size of a body that is read into memory, in bytes.
    public var maximumBodyByteCount: Int?

    /// The maximum size of a record of a stream, in bytes.
    public var maximumRecordByteCount: Int?

    /// The time limits of the call; a limit that is not set comes from the connection.
    public var timeouts: Timeouts?

    /// The policy for redirects.
    public var redirects: RedirectPolicy?

    /// The source of the time.
    public var timeSource: (any TimeSource)? {
        get { timers?.timeSource }
        set { timers = newValue.map(TimerQueue.on) }
    }

    /// The timers on that time source; nil uses those of the connection.
    private(set) var timers: TimerQueue?

    /// The priority of the call among the calls that wait for the same limit; ``CallPriority/normal`` by default.
    public var priority: CallPriority {
        get { values.priority }
        set { values.priority = newValue }
    }

    /// The progress of the request's upload; nil by default.
    ///
    /// Use each value for one call only.
    public var uploadProgress: UploadProgress? {
        get { values.uploadProgress }
        set { values.uploadProgress = newValue }
    }

    /// Your own values for the connection's providers; none by default.
    public var values = RequestValues()

    /// Makes options without overrides.
    public init() {
        headers = HTTPHeaders()
    }

    /// Makes options; for each argument that you omit, the setting of the connection applies.
    ///
    /// `json` sets both encoder and decoder.
    public init(
        headers: HTTPHeaders = HTTPHeaders(),
        validation: ResponseValidation? = nil,
        json: JSONCoding? = nil,
        encoder: JSONEncoder? = nil,
        decoder: JSONDecoder? = nil,
        maximumBodyByteCount: Int? = nil,
        maximumRecordByteCount: Int? = nil,
        timeouts: Timeouts? = nil,
        redirects: RedirectPolicy? = nil,
        timeSource: (any TimeSource)? = nil,
        priority: CallPriority = .normal,
        uploadProgress: UploadProgress? = nil,
        values: RequestValues = RequestValues()
    ) {
        self.headers = headers
        self.validation = validation
        self.encoder = encoder ?? json?.makeEncoder()
        self.decoder = decoder ?? json?.makeDecoder()
        self.maximumBodyByteCount = maximumBodyByteCount
        self.maximumRecordByteCount = maximumRecordByteCount
        self.timeouts = timeouts
        self.redirects = redirects
        self.timers = timeSource.map(TimerQueue.on)
        self.values = values
        if priority != .normal { self.priority = priority }
        if let uploadProgress { self.uploadProgress = uploadProgress }
    }
}

extension CallOptions {
    /// Whether the call is part of a credential refresh; false by default.
    ///
    /// See ``ApiRequest/isCredentialRefresh``. ``RefreshableCredentials`` needs no such option.
    public var isCredentialRefresh: Bool {
        get { values.credentialRefreshes.isMarked }
        set { values.credentialRefreshes.manualValue = newValue }
    }

    /// Makes options for a call that is part of a credential refresh.
    ///
    /// All other settings come from the connection.
    public init(isCredentialRefresh: Bool) {
        self.init()
        self.isCredentialRefresh = isCredentialRefresh
    }
}
