// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The names that generated types must not have, because they would shadow existing types in the whole module.
enum ReservedNames {
    /// The types of the Swift standard library, of concurrency, Foundation, Dispatch and ApiConnector.
    static let types: Set<String> = names(in: swift).union(names(in: apiConnector))

    /// The names of ApiConnector's types, and of some of Foundation's.
    ///
    /// A file whose public declarations use one of them must import its library publicly.
    static let imported: Set<String> = names(in: apiConnector)
        .union(["Data", "Date", "Decimal", "URL", "URLComponents", "UUID"])

    /// The names of the types of ApiConnectorOpenAPI, which generated code uses.
    static let support: Set<String> = [
        "DateTime", "Day", "DecimalText", "FormFile", "FormParts", "FormValue", "Indirect", "Nullable", "OpenEnum",
        "OperationCredentials", "OperationRouter", "ParameterText", "ParameterValue", "RequestModel", "ResponseModel",
        "RouteParts",
    ]

    /// The names of the type parameters and associated types that are in scope where generated code uses models.
    static let parameters: Set<String> = [
        "Router", "Value", "Page", "RawValue", "EnvironmentType", "EnvelopeType", "PathType", "QueryType",
        "MethodType", "HeadersType", "BodyType",
    ]

    private static func names(in text: String) -> Set<String> {
        Set(text.split { $0 == " " || $0 == "\n" }.map(String.init))
    }

    private static let swift = """
        Actor AdditiveArithmetic AffineTransform AlignmentOptions Any AnyBidirectionalCollection AnyClass AnyCollection
        AnyHashable AnyIndex AnyIterator AnyKeyPath AnyObject AnyRandomAccessCollection AnySequence ApiConnector
        ApiConnectorOpenAPI Array ArrayLiteralConvertible ArraySlice AsyncIteratorProtocol AsyncSequence AsyncStream AsyncThrowingStream
        AttributeContainer AttributeDynamicLookup AttributeScope AttributeScopeCodableConfiguration AttributeScopes
        AttributedString AttributedStringAttributeMutation AttributedStringKey AttributedStringProtocol
        AttributedSubstring BidirectionalCollection BidirectionalIndexable BidirectionalSlice BinaryFloatingPoint
        BinaryInteger BitwiseCopyable BlockOperation Bool BooleanLiteralConvertible BooleanLiteralType Bundle
        ByteCountFormatStyle ByteCountFormatter CBool CChar CChar16 CChar32 CChar8 CDouble CGFloat CGPoint CGRect
        CGRectEdge CGSize CInt CLong CLongDouble CLongLong CShort CSignedChar CUnsignedChar CUnsignedInt CUnsignedLong
        CUnsignedLongLong CUnsignedShort CVaListPointer CVarArg CWideChar CachedURLResponse Calendar Cancellable
        CancellationError CaseIterable Character CharacterSet CheckedContinuation Clock ClosedRange ClosedRangeIndex
        CocoaError Codable CodableAttributedStringKey CodableConfiguration CodableWithConfiguration CodingKey
        CodingKeyRepresentable CodingUserInfoKey Collection CollectionDifference CollectionOfOne Combine CommandLine
        Comparable ComparableComparator Comparator ComparisonResult ConcurrentValue ContiguousArray ContiguousBytes
        ContinuousClock Copyable CountableClosedRange CountablePartialRangeFrom CountableRange
        CustomDebugStringConvertible CustomLeafReflectable CustomNSError CustomPlaygroundDisplayConvertible
        CustomPlaygroundQuickLookable CustomReflectable CustomStringConvertible Darwin Data DataProtocol Date
        DateComponents DateFormatter DateInterval DateIntervalFormatter Decimal Decodable DecodableAttributedStringKey
        DecodableWithConfiguration Decoder DecodingConfigurationProviding DecodingError DefaultBidirectionalIndices
        DefaultIndices DefaultRandomAccessIndices DefaultStringInterpolation Dictionary DictionaryIndex
        DictionaryIterator DictionaryLiteral DictionaryLiteralConvertible Dimension DiscardingTaskGroup
        DiscontiguousAttributedSubstring DiscontiguousSlice DiscreteFormatStyle DispatchData DispatchDataIterator
        DispatchGroup DispatchIO DispatchObject DispatchPredicate DispatchQoS DispatchQueue DispatchSemaphore
        DispatchSource DispatchSourceHandler DispatchSourceProtocol DispatchSourceRead DispatchSourceSignal
        DispatchSourceTimer DispatchSourceUserDataAdd DispatchSourceUserDataOr DispatchSourceUserDataReplace
        DispatchSourceWrite DispatchSpecificKey DispatchTime DispatchTimeInterval DispatchTimeoutResult DispatchWallTime
        DispatchWorkItem DispatchWorkItemFlags Double DropFirstSequence DropWhileSequence Duration DurationProtocol
        EmptyCollection EmptyIterator Encodable EncodableAttributedStringKey EncodableWithConfiguration Encoder
        EncodingConfigurationProviding EncodingError EnergyFormatter EnumeratedIterator EnumeratedSequence Equatable
        Error Escapable Executor ExecutorJob ExpressibleByArrayLiteral ExpressibleByBooleanLiteral
        ExpressibleByDictionaryLiteral ExpressibleByExtendedGraphemeClusterLiteral ExpressibleByFloatLiteral
        ExpressibleByIntegerLiteral ExpressibleByNilLiteral ExpressibleByStringInterpolation ExpressibleByStringLiteral
        ExpressibleByUnicodeScalarLiteral Expression ExtendedGraphemeClusterLiteralConvertible
        ExtendedGraphemeClusterType FileAttributeKey FileAttributeType FileHandle FileManager FileManagerDelegate
        FileProtectionType FixedWidthInteger FlattenBidirectionalCollection FlattenBidirectionalCollectionIndex
        FlattenCollection FlattenCollectionIndex FlattenSequence Float Float16 Float32 Float64 Float80
        FloatLiteralConvertible FloatLiteralType FloatingPoint FloatingPointClassification FloatingPointRoundingRule
        FloatingPointSign FormatStyle Formatter Foundation Glibc GlobalActor HTTPCookie HTTPCookiePropertyKey
        HTTPCookieStorage HTTPURLResponse Hashable Hasher Host ISO8601DateFormatter Identifiable IndexPath IndexSet
        Indexable IndexableBase IndexingIterator InflectionRule InlineArray InputStream InstantProtocol Int Int128 Int16
        Int32 Int64 Int8 IntegerLiteralConvertible IntegerLiteralType IteratorOverOne IteratorProtocol IteratorSequence
        JSONDecoder JSONEncoder JSONSerialization JoinedIterator JoinedSequence KeyPath KeyValuePairs
        KeyedDecodingContainer KeyedDecodingContainerProtocol KeyedEncodingContainer KeyedEncodingContainerProtocol
        LazyBidirectionalCollection LazyCollection LazyCollectionProtocol LazyDropWhileBidirectionalCollection
        LazyDropWhileCollection LazyDropWhileIndex LazyDropWhileIterator LazyDropWhileSequence
        LazyFilterBidirectionalCollection LazyFilterCollection LazyFilterIndex LazyFilterIterator LazyFilterSequence
        LazyMapBidirectionalCollection LazyMapCollection LazyMapIterator LazyMapRandomAccessCollection LazyMapSequence
        LazyPrefixWhileBidirectionalCollection LazyPrefixWhileCollection LazyPrefixWhileIndex LazyPrefixWhileIterator
        LazyPrefixWhileSequence LazyRandomAccessCollection LazySequence LazySequenceProtocol LengthFormatter Locale
        LocalizedError Logger LosslessStringConvertible MainActor ManagedBuffer ManagedBufferPointer
        MarkdownDecodableAttributedStringKey MassFormatter Measurement MemoryLayout Mirror MirrorPath Morphology
        MutableBidirectionalSlice MutableCollection MutableDataProtocol MutableIndexable MutableRandomAccessSlice
        MutableRangeReplaceableBidirectionalSlice MutableRangeReplaceableRandomAccessSlice MutableRangeReplaceableSlice
        MutableRawSpan MutableSlice MutableSpan Never NilLiteralConvertible Notification NotificationCenter
        NotificationQueue NumberFormatter Numeric ObjCBool ObjectIdentifier Observable ObservableObject Observation
        OpaquePointer OperatingSystemVersion Operation OperationQueue OptionSet Optional OutputRawSpan OutputSpan
        OutputStream POSIXError ParseStrategy ParseableFormatStyle PartialKeyPath PartialRangeFrom PartialRangeThrough
        PartialRangeUpTo PersonNameComponents PersonNameComponentsFormatter Pipe PlaygroundQuickLook Port PortDelegate
        PortMessage Predicate PredicateBindings PredicateError PredicateExpression PredicateExpressions PrefixSequence
        Process ProcessInfo Progress ProgressKind ProgressReporting ProgressUserInfoKey PropertyListDecoder
        PropertyListEncoder PropertyListSerialization Protocol Publisher QualityOfService RandomAccessCollection
        RandomAccessIndexable RandomAccessSlice RandomNumberGenerator Range RangeExpression
        RangeReplaceableBidirectionalSlice RangeReplaceableCollection RangeReplaceableIndexable
        RangeReplaceableRandomAccessSlice RangeReplaceableSlice RangeSet RawRepresentable RawSpan RecoverableError
        ReferenceConvertible ReferenceWritableKeyPath Regex Repeated Result ReversedCollection ReversedIndex
        ReversedRandomAccessCollection RunLoop SIMD SIMD16 SIMD2 SIMD3 SIMD32 SIMD4 SIMD64 SIMD8 SIMDMask SIMDScalar
        SIMDStorage Scanner ScopedAttributeContainer Selector Self Sendable SendableMetatype Sequence SerialExecutor Set
        SetAlgebra SetIndex SetIterator SignedInteger SignedNumeric SingleValueDecodingContainer
        SingleValueEncodingContainer Slice SocketNativeHandle SocketPort SortComparator SortOrder Span
        StandardPredicateExpression StaticBigInt StaticString Stream StreamDelegate StreamNetworkServiceTypeValue
        StreamSOCKSProxyConfiguration StreamSOCKSProxyVersion StreamSocketSecurityLevel StrideThrough
        StrideThroughIterator StrideTo StrideToIterator Strideable String StringInterpolationConvertible
        StringInterpolationProtocol StringLiteralConvertible StringLiteralType StringProtocol StringTransform Subscriber
        Substring SuspendingClock Swift SystemRandomNumberGenerator Task TaskExecutor TaskGroup TaskLocal TaskPriority
        Testing TextOutputStream TextOutputStreamable Thread ThrowingDiscardingTaskGroup ThrowingTaskGroup TimeInterval
        TimeZone Timer Type UInt UInt128 UInt16 UInt32 UInt64 UInt8 URL URLAuthenticationChallenge
        URLAuthenticationChallengeSender URLCache URLComponents URLCredential URLCredentialStorage URLError
        URLFileResourceType URLProtectionSpace URLProtocol URLProtocolClient URLQueryItem URLRequest URLResourceKey
        URLResourceValues URLResponse URLSession URLSessionConfiguration URLSessionDataDelegate URLSessionDataTask
        URLSessionDelegate URLSessionDownloadDelegate URLSessionDownloadTask URLSessionStreamDelegate
        URLSessionStreamTask URLSessionTask URLSessionTaskDelegate URLSessionTaskMetrics
        URLSessionTaskTransactionMetrics URLSessionUploadTask URLSessionWebSocketDelegate URLSessionWebSocketTask UTF16
        UTF32 UTF8 UTF8Span UUID UnboundedRange UnboundedRange_ UndoManager UnfoldFirstSequence UnfoldSequence Unicode
        UnicodeCodec UnicodeDecodingResult UnicodeScalar UnicodeScalarLiteralConvertible UnicodeScalarType Unit
        UnitAcceleration UnitAngle UnitArea UnitConcentrationMass UnitConverter UnitConverterLinear UnitDispersion
        UnitDuration UnitElectricCharge UnitElectricCurrent UnitElectricPotentialDifference UnitElectricResistance
        UnitEnergy UnitFrequency UnitFuelEfficiency UnitIlluminance UnitInformationStorage UnitLength UnitMass UnitPower
        UnitPressure UnitSpeed UnitTemperature UnitVolume UnkeyedDecodingContainer UnkeyedEncodingContainer Unmanaged
        UnownedJob UnsafeBufferPointer UnsafeBufferPointerIterator UnsafeConcurrentValue UnsafeContinuation
        UnsafeMutableBufferPointer UnsafeMutablePointer UnsafeMutableRawBufferPointer
        UnsafeMutableRawBufferPointerIterator UnsafeMutableRawPointer UnsafePointer UnsafeRawBufferPointer
        UnsafeRawBufferPointerIterator UnsafeRawPointer UnsafeSendable UnsignedInteger UserDefaults Void WritableKeyPath
        XCTest Zip2Iterator Zip2Sequence
        """

    private static let apiConnector = """
        AnyProvider ApiCall ApiConnectionType ApiConnectorError ApiCredential ApiEnvelope ApiEnvironment ApiModel
        ApiOutcome ApiPath ApiPathConvertible ApiQuery ApiQueryConvertible ApiQueryValue ApiRequest ApiResponse
        ApiRouter AttemptSummary Authenticated BareEnvelope BufferedObserver CacheHit CacheKey CacheStorage CacheUse
        Cached CallEvent CallHandle CallID CallLog CallMetrics CallObserver CallOptions CallOutcome CallPriority
        CallTotals CircuitBreaking CircuitEvent CircuitPolicy CodedFailure ConnectionConfiguration CredentialEvent
        CredentialScope CredentialSource CurlConfiguration CurlProvider DataEnvelope DataRequestType DecodedResponse
        Deduplicated DefaultDataRequestType DiskCacheStorage DownloadEvent DownloadedFile EnvelopeContent FailedCallCurl
        Failover FixedCredential FormEncoding HTTPHeaders HTTPMethod HTTPScheme HTTPStatus HedgePolicy Hedged
        JSONAPIEnvelope JSONAPIError JSONNumber JSONValue Limited MediaType MemoryCacheStorage MultipartPart
        NetworkConnector NextPage NoFailure Observed OpenCircuit PerRequestCredentials ProblemDetails PublicKeyPin
        Redactor RedirectPolicy RefreshLimit RefreshableCredentials RequestBody RequestLimit RequestRate RequestSigner
        RequestSummary RequestValueKey RequestValues ResponseBody ResponseDelivery ResponseHead ResponseStream
        ResponseSummary ResponseValidation ResumePolicy RetryBudget RetryPolicy RetryStop Retrying Rewriting Routed
        ServerSentEvent StreamFormat SystemProvider SystemTimeSource TimeLimited TimeSource Timeouts TraceContext
        TransferProgress URLSessionProvider UploadProgress ValueOfUnnamedType WebLink WithHeaders
        """
}
