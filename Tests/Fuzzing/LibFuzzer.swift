// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The entry point for libFuzzer; `Scripts/fuzz` compiles it with the library's sources and `FuzzTarget.swift` as one
/// module.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Data(UnsafeBufferPointer(start: bytes, count: count))
    guard let fault = fuzzTarget.fault(input) else { return 0 }
    // A trap prints no text in release.
    FileHandle.standardError.write(Data("fault: \(fault)\n".utf8))
    abort()
}

private let fuzzTarget: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["APICONNECTOR_FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        // Scripts/fuzz names the target before libFuzzer calls, so no input reaches this trap.
        preconditionFailure("APICONNECTOR_FUZZ_TARGET is not one of \(FuzzTarget.allCases.map(\.rawValue))")
    }
    return target
}()
