// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ArgumentParser

/// The command line: `demo` alone walks through the blog.
@main
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Demonstrates ApiConnector against an embedded server.",
        discussion: "Exits with status 1 if a step does not go as expected.",
        subcommands: [
            BlogCommand.self, UsersCommand.self, PugsCommand.self, OrdersCommand.self, TourCommand.self,
            ExportCommand.self, FeedCommand.self, DownloadCommand.self, ResilienceCommand.self, RecordCommand.self,
            ReplayCommand.self, DocumentCommand.self, ConformanceCommand.self, ServeCommand.self, InspectCommand.self,
            FleetCommand.self,
        ],
        defaultSubcommand: BlogCommand.self
    )
}
