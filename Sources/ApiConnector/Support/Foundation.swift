// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Exported, so that a file with routers only needs `import ApiConnector`, as in the README of 2016. No other file needs
// to know that URLSession is in a separate module on Linux.
@_exported public import Foundation

#if canImport(FoundationNetworking)
@_exported public import FoundationNetworking
#endif

#if canImport(Darwin)
// A file can use members of the C library's types only if it imports their module. This export imports the module into
// all files.
@_exported public import Darwin
#endif
