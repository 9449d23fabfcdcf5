// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What libFuzzer calls; `Scripts/fuzz` compiles it with the library's sources and `FuzzTarget.swift` as one module.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Data(UnsafeBufferPointer(start: bytes, count: count))
    guard let fault = fuzzTarget.fault(input) else { return 0 }
    // The text of a trap is left out in release.
    FileHandle.standardError.write(Data("fault: \(fault)\n".utf8))
    abort()
}

private let fuzzTarget: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["APICONNECTOR_FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        // Scripts/fuzz names the target before libFuzzer calls, so that no input of its reaches this.
        preconditionFailure("APICONNECTOR_FUZZ_TARGET is none of \(FuzzTarget.allCases.map(\.rawValue))")
    }
    return target
}()
