// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What one call wants otherwise than its connection: nil comes from the connection.
public struct CallOptions: Sendable {
    /// Header fields, laid over all others; none by default.
    public var headers: HTTPHeaders

    /// What the response has to be.
    public var validation: ResponseValidation?

    /// What encodes a JSON body.
    public var encoder: JSONEncoder?

    /// What decodes JSON.
    public var decoder: JSONDecoder?

    /// The largest body that is read into memory, in bytes.
    public var maximumBodyByteCount: Int?

    /// The longest record of a stream, in bytes.
    public var maximumRecordByteCount: Int?

    /// How long the call may take; a limit that is not set comes from the connection.
    public var timeouts: Timeouts?

    /// What happens with redirects.
    public var redirects: RedirectPolicy?

    /// Where the time comes from.
    public var timeSource: (any TimeSource)? {
        get { timers?.timeSource }
        set { timers = newValue.map(TimerQueue.on) }
    }

    /// What is due when, on that time source; nil comes from the connection.
    private(set) var timers: TimerQueue?

    /// Who goes first where calls wait for each other; ``CallPriority/normal`` by default.
    public var priority: CallPriority {
        get { values.priority }
        set { values.priority = newValue }
    }

    /// Who is told how far the request's body has come; nobody by default.
    ///
    /// One value is for one call.
    public var uploadProgress: UploadProgress? {
        get { values.uploadProgress }
        set { values.uploadProgress = newValue }
    }

    /// Values of your own for the connection's providers; none by default.
    public var values = RequestValues()

    /// Makes options that leave everything to the connection, as most calls do.
    public init() {
        headers = HTTPHeaders()
    }

    /// Makes options; what is left out comes from the connection.
    ///
    /// `json` sets encoder and decoder together.
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
