/// The options as they were typed, before anybody asks whether they make sense.
struct RawFlags: Equatable, Sendable {
  var help = false
  var version = false
  var json = false
  var quiet = false
  var verbose = false
  var offline = false
  var refresh = false
  var allowPrivate = false
  var demo = false
  var dryRun = false
  var pin = false
  var repair = false
  var requireCredential = false
  var decode = false
  var cached = false
  var simulate = false
  var strict = false
  var backdrops = false
  var profiles = false
  var sinceLast = false

  var progress: String?
  var cacheDirectory: String?
  var diskLimit: String?
  var memoryLimit: String?
  var connections: String?
  var rate: String?
  var timeout: String?
  var connectTimeout: String?
  var retries: String?
  var maxBytes: String?
  var proxy: String?
  var certificateAuthorities: String?

  var list: String?
  var media: String?
  var window: String?
  var pages: String?
  var limit: String?
  var query: String?
  var filters: [String] = []
  var from: String?
  var language: String?
  var region: String?
  var size: String?
  var api: String?
  var images: String?
  var tokenFile: String?
  var output: String?
  var fitting: String?
  var columns: String?
  var cell: String?
  var sort: String?
  var to: String?

  var rows: String?
  var id: String?
  var trace: String?
  var seed: String?
  var kind: String?
  var seconds: String?
  var viewport: String?
  var policy: String?
  var ladder: String?
  var plot: String?

  var listen: String?
  var latency: String?
  var bandwidth: String?
  var faults: [String] = []
}
