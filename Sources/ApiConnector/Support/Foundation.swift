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
// Members of the C library's types are visible in each file that imports their module.
@_exported public import Darwin
#endif
