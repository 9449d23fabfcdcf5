// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Header fields as services document them.
enum CredentialFields {
    /// Fields that have a credential or a signature made with one, by service.
    static let secret: [(service: String, names: [String])] = [
        ("Datadog", ["DD-API-KEY", "DD-APPLICATION-KEY"]),
        ("Fastly", ["Fastly-Key"]),
        ("ClickHouse", ["X-ClickHouse-Key"]),
        ("Honeycomb", ["X-Honeycomb-Team"]),
        ("Azure Mobile Apps", ["X-ZUMO-AUTH"]),
        ("Azure Functions", ["x-functions-key"]),
        ("Azure API Management", ["Ocp-Apim-Subscription-Key"]),
        ("Azure Event Grid", ["aeg-sas-key", "aeg-sas-token"]),
        ("Azure Service Bus", ["ServiceBusAuthorization", "x-ms-authorization-auxiliary"]),
        ("Azure App Service", ["X-MS-TOKEN-AAD-ACCESS-TOKEN", "X-MS-CLIENT-PRINCIPAL"]),
        ("Parse", ["X-Parse-Master-Key", "X-Parse-REST-API-Key", "X-Parse-Client-Key", "X-Parse-Session-Token"]),
        ("Amazon S3", ["X-Amz-Security-Token", "x-amz-server-side-encryption-customer-key"]),
        ("AWS load balancers", ["X-Amzn-Oidc-Data", "X-Amzn-Oidc-Accesstoken"]),
        ("Google Cloud", ["X-Goog-Api-Key", "X-Goog-Iap-Jwt-Assertion", "x-goog-encryption-key"]),
        ("Firebase", ["X-Firebase-AppCheck", "X-Goog-Firebase-Installations-Auth"]),
        ("Cloudflare", ["X-Auth-Key", "X-Auth-User-Service-Key"]),
        ("Cloudflare Access", ["CF-Access-Client-Secret", "Cf-Access-Jwt-Assertion", "cf-access-token"]),
        ("GitLab", ["PRIVATE-TOKEN", "JOB-TOKEN", "Deploy-Token", "X-Gitlab-Token"]),
        ("GitHub", ["X-GitHub-OTP", "X-Hub-Signature", "X-Hub-Signature-256"]),
        ("Vault", ["X-Vault-Token"]),
        ("Consul", ["X-Consul-Token"]),
        ("Nomad", ["X-Nomad-Token"]),
        ("OpenStack", ["X-Auth-Token", "X-Subject-Token"]),
        ("Anthropic", ["x-api-key"]),
        ("ElevenLabs", ["xi-api-key"]),
        ("Brave Search", ["X-Subscription-Token"]),
        ("RapidAPI", ["X-RapidAPI-Key", "X-Mashape-Key", "X-RapidAPI-Proxy-Secret"]),
        ("Algolia", ["X-Algolia-API-Key"]),
        ("Postmark", ["X-Postmark-Server-Token", "X-Postmark-Account-Token"]),
        ("New Relic", ["Api-Key", "X-Insert-Key", "X-Query-Key", "X-License-Key"]),
        ("Sentry", ["X-Sentry-Auth"]),
        ("Uptrace", ["uptrace-dsn"]),
        ("Figma", ["X-Figma-Token"]),
        ("Pivotal Tracker", ["X-TrackerToken"]),
        ("Artifactory", ["X-JFrog-Art-Api"]),
        ("NuGet", ["X-NuGet-ApiKey"]),
        ("Okta", ["X-Okta-XsrfToken"]),
        ("Shopify", ["X-Shopify-Access-Token", "X-Shopify-Hmac-Sha256"]),
        ("Hasura", ["X-Hasura-Admin-Secret"]),
        ("Typesense", ["X-TYPESENSE-API-KEY"]),
        ("Binance", ["X-MBX-APIKEY"]),
        ("Coinbase", ["CB-ACCESS-KEY", "CB-ACCESS-SIGN", "CB-ACCESS-PASSPHRASE"]),
        ("Kraken", ["API-Key", "API-Sign"]),
        ("OKX", ["OK-ACCESS-KEY", "OK-ACCESS-SIGN", "OK-ACCESS-PASSPHRASE"]),
        ("Bybit", ["X-BAPI-API-KEY", "X-BAPI-SIGN"]),
        ("KuCoin", ["KC-API-KEY", "KC-API-SIGN", "KC-API-PASSPHRASE"]),
        ("Gate", ["KEY", "SIGN"]),
        ("CoinMarketCap", ["X-CMC_PRO_API_KEY"]),
        ("IG", ["CST", "X-SECURITY-TOKEN", "X-IG-API-KEY"]),
        ("Plex", ["X-Plex-Token"]),
        ("Emby", ["X-Emby-Token", "X-Emby-Authorization"]),
        ("Home Assistant", ["X-HA-Access"]),
        ("Redmine", ["X-Redmine-API-Key"]),
        ("Discourse", ["Api-Key", "User-Api-Key"]),
        ("Salesforce", ["X-SFDC-Session"]),
        ("Metabase", ["X-Metabase-Session"]),
        ("Tableau", ["X-Tableau-Auth"]),
        ("Qlik", ["X-Qlik-Xrfkey"]),
        ("MicroStrategy", ["X-MSTR-AuthToken"]),
        ("Tenable", ["X-ApiKeys"]),
        ("Prisma Cloud", ["x-redlock-auth"]),
        ("Palo Alto Networks", ["X-PAN-KEY"]),
        ("OVHcloud", ["X-Ovh-Application", "X-Ovh-Consumer", "X-Ovh-Signature"]),
        ("Naver Cloud", ["x-ncp-iam-access-key", "x-ncp-apigw-signature-v2"]),
        ("VTEX", ["x-vtex-api-appkey", "X-VTEX-API-AppToken"]),
        ("ForgeRock", ["iPlanetDirectoryPro", "X-OpenAM-Password"]),
        ("Bunny", ["AccessKey"]),
        ("Adafruit IO", ["X-AIO-Key"]),
        ("Stripe", ["Stripe-Signature"]),
        ("Slack", ["X-Slack-Signature"]),
        ("Twilio", ["X-Twilio-Signature"]),
        ("Emarsys", ["X-WSSE"]),
        ("codes", ["X-Access-Code", "X-Security-Code", "X-Verification-Code", "X-MFA-Code", "X-Auth-Code"]),
        (
            "client certificates",
            [
                "X-Client-Cert", "Client-Cert", "Client-Cert-Chain", "X-SSL-Client-Cert", "X-Forwarded-Client-Cert",
                "X-ARR-ClientCert", "X-Client-Certificate", "X-Amzn-Mtls-Clientcert-Leaf",
            ]
        ),
        ("OAuth2 Proxy", ["X-Auth-Request-Access-Token"]),
        ("HTTP message signatures", ["Signature", "X-Signature"]),
        (
            "numbers and versions",
            [
                "X-Token2", "X-Token-V2", "X-ApiToken2", "X-OAuth2", "X-OAuthToken2", "X-Pass-1", "X-Auth-2", "X-Sig2",
                "X-Session-V3",
            ]
        ),
        (
            "words without a hyphen",
            [
                "X-UserPwd", "X-AuthCode", "X-AuthToken", "X-Apikey", "X-AuthHeader", "X-AuthUser", "X-SessionId",
                "X-AccessToken", "X-UserSession", "X-SessionData", "X-DoorPin", "X-LoginPass", "X-SmsOtp",
            ]
        ),
        (
            "plurals",
            ["X-Access-Keys", "X-App-Keys", "X-SigningKeys", "X-Recovery-Keys", "X-CSRF-Tokens", "X-Backup-Codes"]
        ),
        ("short words", ["X-Pw", "X-Creds", "X-Authenticate", "X-Cred", "X-SSO"]),
        ("CSRF", ["X-CSRF", "X-XSRF", "Jenkins-Crumb", "X-WP-Nonce", "X-OWA-Canary"]),
        // Names that are a credential for some services and a plain name for others.
        ("several services", ["X-License", "X-Tenant-Key", "X-Project-Key", "X-Store-Key"]),
    ]

    static let secretNames = secret.flatMap(\.names)

    /// Fields whose names look alike, and that have no credential.
    static let harmlessNames = [
        "X-Author", "Author", "X-Authored-By", "X-Authority", "Key-Id", "X-Key-Type", "Sec-WebSocket-Key",
        "Sec-WebSocket-Accept", "Idempotency-Key", "X-Idempotency-Key", "X-Auth-Status", "Surrogate-Key", "xkey",
        "X-Cache-Key", "X-Partition-Key", "x-ms-documentdb-partitionkey", "X-Message-Key", "X-Object-Key",
        "X-Sort-Key", "X-Translation-Key", "X-Token-Type", "X-Token-Count", "X-Snowflake-Authorization-Token-Type",
        "x-ratelimit-remaining-tokens", "anthropic-ratelimit-tokens-limit", "X-OAuth-Scopes",
        "X-Accepted-OAuth-Scopes", "x-amz-server-side-encryption-aws-kms-key-id", "Public-Key-Pins",
        "X-Keyboard-Layout", "X-Keywords", "X-Survey-Monkey", "X-Design", "X-Signal", "X-Assignee",
        "X-Passenger-Name", "X-Compass", "X-Shipping", "X-Session-Timeout", "X-Honeycomb-Dataset",
        "X-Parse-Application-Id", "CB-ACCESS-TIMESTAMP", "X-Signature-Timestamp", "Paypal-Auth-Algo",
        "Authentication-Results", "Signature-Input", "X-Cookie-Policy", "X-Amz-Date", "X-Amz-Content-Sha256",
        "X-Request-Id", "X-License-Type", "Destination", "Origin-Agent-Cluster", "Sec-Fetch-Site", "X-Ticket-Count",
        "Content-Signature", "X-Content-Signature", "X-Auth-Request-Email", "X-Auth-Request-User",
        "X-Auth-Request-Groups", "X-Auth-Request-Preferred-Username", "X-Session-Affinity", "X-License-Name",
        "X-Error-Code", "X-Country-Code", "X-Status-Code", "X-Promo-Code", "X-Client-Certificate-Count",
        "X-Tokenizer", "X-Keyboard", "X-Monkey", "X-Turkey", "X-Author2", "X-Authors", "X-TokenType", "X-Token-Count2",
        "X-Bypass", "X-Spin", "X-Barcode", "X-Version-2", "X-Status-Code-2", "X-StatusId", "X-News-Id", "X-Page2",
        "Accept-Signature", "X-Dedupe-Key", "X-Retry-Key", "X-Batch-Key", "X-Kafka-Key", "X-Possession", "X-Obsession",
        "X-Session-Language", "X-Session-Start", "X-Sort-Keys", "X-Primary-Keys", "X-Public-Keys", "X-Cache-Keys",
        "Surrogate-Keys", "xkeys", "X-Monkeys", "x-ratelimit-limit-tokens",
    ]
}
