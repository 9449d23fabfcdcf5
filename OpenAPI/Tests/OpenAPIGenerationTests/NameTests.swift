// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import OpenAPIGeneration

struct NameTests {
    @Test(arguments: [
        "created_at": "createdAt", "userID": "userID", "user_ids": "userIDs", "HTML-URL": "htmlURL", "id": "id",
        "ID": "id", "URL": "url", "X-Rate-Limit": "xRateLimit", "+1": "plus1", "-1": "minus1", "1st": "value1st",
        "": "value", "self": "selfValue", "Type": "type", "class": "class", "größe": "größe", "a.b[c]": "aBC",
        "IN_PROGRESS": "inProgress", "HTTPServer": "httpServer", "APIKeys": "apiKeys", "v2Users": "v2Users", "*": "all",
    ])
    func membersFollowTheGuidelines(_ text: String, _ name: String) {
        #expect(Identifier.member(text) == name)
    }

    @Test(arguments: [
        "issue-comment": "IssueComment", "user_id": "UserID", "3d": "Type3d", "": "Value",
        "IssueComment": "IssueComment",
        "GUILD_CREATE": "GuildCreate", "issues/create-label": "IssuesCreateLabel",
    ])
    func typesFollowTheGuidelines(_ text: String, _ name: String) {
        #expect(Identifier.type(text) == name)
    }

    @Test func keywordsAreInBackticks() {
        #expect(Identifier.escaped("in") == "`in`")
        #expect(Identifier.escaped("default") == "`default`")
        #expect(Identifier.escaped("name") == "name")
    }

    @Test(arguments: [
        "One. Two.": "One.", "See e.g. this. Then": "See e.g. this.",
        "# Title\n\nText of\ntwo lines": "Text of two lines",
        "a\n- list": "a", "": "", "One\n \nTwo.": "One", "Version 1.2 is old. Go.": "Version 1.2 is old.",
    ])
    func theFirstSentenceIsTheSummary(_ text: String, _ sentence: String) {
        #expect(PlainText.firstSentence(text) ?? "" == sentence)
    }

    @Test func literalsEscapeWhatEndsThem() {
        #expect(PlainText.literal("a\"b\\(c)\n\u{2028}\u{0}") == #""a\"b\\(c)\n\u{2028}\u{0}""#)
    }
}
