import PosterCache
import ScrollReplay

/// Every option there is, in the order in which `--help` shows them.
enum FlagTable {
  static let flags: [Flag] = listing + picture + sheet + scroll + store + origin + everywhere

  /// The commands that know lists.
  private static let lists: Set<CommandName> = [.warm, .export, .sheet, .scroll]

  /// Options of commands that know lists.
  private static let listing: [Flag] = [
    Flag(
      "list", .value("NAME,…", \.list), only: lists,
      "the lists to expand: \(ListName.allCases.names); without one, export writes"
        + " and sheet draws what is stored"
    ),
    Flag(
      "media", .value("KIND", \.media), only: lists,
      "kind of titles: \(TMDBList.Media.allCases.names) (default all, movie for related titles)"),
    Flag(
      "window", .value("TIME", \.window), only: lists,
      "time over which trends are counted: \(TMDBList.Window.allCases.names) (default day)"),
    Flag(
      "id", .value("N", \.id), only: lists,
      "the title that similar, recommendations, related and --rows are about, or TMDB's list"),
    Flag("query", .value("WORDS", \.query), only: lists, "what search looks for"),
    Flag(
      "filter", .values("NAME=VALUE", \.filters), only: lists,
      "a condition of discover or of Spotify's lists, passed on as it is; may be repeated"),
    Flag(
      "from", .value("FILE|URL|-", \.from), only: lists,
      "where feed or urls is read from, - for standard input (default with --demo: its own)"),
    Flag(
      "strict", .on(\.strict), only: lists,
      "the first entry that cannot be understood ends its list, as a failure"),
    Flag(
      "pages", .value("N|all", \.pages), only: lists,
      "pages of each list to load, 1 to 500 (default 1; scroll: as many as it reaches)"),
    Flag(
      "limit", .value("N", \.limit), only: lists, "stop after this many posters of each list"),
    Flag(
      "language", .value("TAG", \.language), only: lists,
      "language of the titles and their posters, such as ko-KR"),
    Flag(
      "region", .value("COUNTRY", \.region), only: lists,
      "country whose releases count, such as KR"),
    Flag(
      "backdrops", .on(\.backdrops), only: lists,
      "the wide pictures of films and series instead of their posters"),
    Flag(
      "profiles", .on(\.profiles), only: lists,
      "pictures of people as well, and of what they are known for"),
    Flag(
      "api", .value("URL", \.api), only: lists,
      "the API's base address, its path included (default \(PosterAddress.tmdbAPI), for Spotify's"
        + " lists \(PosterAddress.spotifyAPI))"),
    Flag(
      "token-file", .value("FILE", \.tokenFile), only: lists,
      "read the credential from FILE instead of TMDB_TOKEN, TMDB_API_KEY or SPOTIFY_TOKEN"),
    Flag(
      "dry-run", .on(\.dryRun), only: [.warm],
      "print what would be fetched and about how much it is; fetch list pages only, store nothing"),
    Flag(
      "since-last", .on(\.sinceLast), only: [.warm],
      "leave out the posters that the last run of the same list had"),
    Flag(
      "pin", .on(\.pin), only: [.warm],
      "keep the list's posters from ever being evicted, those that were there already as well"),
  ]

  /// Options of commands that know posters.
  private static let picture: [Flag] = [
    Flag(
      "output", short: "o", .value("FILE", \.output), only: [.get, .sheet],
      "write the picture to FILE; - is standard output, the default of get"),
    Flag(
      "fitting", .value("WxH", \.fitting), only: [.get],
      "decode it, shrink it to at most so many pixels, and write PNG"),
    Flag("decode", .on(\.decode), only: [.get], "decode it and write PNG in full size"),
    Flag(
      "size", .value("SIZE", \.size),
      only: [.warm, .get, .pin, .unpin, .evict, .export, .sheet, .scroll],
      "poster size: \(ImageHost.tmdb.sizes(of: .poster).names) (default w342; export and sheet without a list: all);"
        + " backdrops: \(ImageHost.tmdb.sizes(of: .backdrop).names); profiles:"
        + " \(ImageHost.tmdb.sizes(of: .profile).names)"
    ),
    Flag(
      "images", .value("URL", \.images),
      only: [.warm, .get, .pin, .unpin, .evict, .export, .sheet, .scroll],
      "the image host's base address, without the size (default \(PosterAddress.tmdbImages))"),
    Flag(
      "refresh", .on(\.refresh), only: [.warm, .get, .sheet],
      "ask the server also about what is cached and fresh; what it confirms is not fetched again"),
    Flag(
      "demo", .on(\.demo), only: [.warm, .get, .export, .sheet, .scroll],
      "use the embedded origin: no network, no credential"),
  ]

  /// Options of the contact sheet.
  private static let sheet: [Flag] = [
    Flag(
      "cached", .on(\.cached), only: [.sheet],
      "draw what is stored, the last to be evicted first (default without --list)"),
    Flag(
      "columns", .value("N", \.columns), only: [.sheet],
      "posters side by side, 1 to 1000 (default 10)"),
    Flag(
      "cell", .value("WxH", \.cell), only: [.sheet, .scroll],
      "pixels that each poster is shrunk to fit into (default 154x231; scroll: 120x180)"),
  ]

  /// Options of the replayed scroll.
  private static let scroll: [Flag] = [
    Flag(
      "rows", .value("NAME,…", \.rows), only: [.scroll],
      "rows that scroll sideways above the list, or alone: \(RowName.allCases.names)"),
    Flag(
      "trace", .value("FILE", \.trace), only: [.scroll],
      "replay the movements in FILE: a trace, or recorded flings"),
    Flag(
      "seed", .value("N", \.seed), only: [.scroll],
      "replay flings made up from this number, the same every time (default 1)"),
    Flag(
      "kind", .value("KIND", \.kind), only: [.scroll],
      "how --seed scrolls: \(TraceKind.allCases.names) (default ios, or rows with --rows)"),
    Flag(
      "seconds", .value("S", \.seconds), only: [.scroll],
      "scroll for S seconds, at most 600 (default: 14, or all of --trace)"),
    Flag(
      "viewport", .value("WxH", \.viewport), only: [.scroll],
      "points that are seen at once, of which each is one pixel (default 390x844)"),
    Flag(
      "policy", .value("POLICY", \.policy), only: [.scroll],
      "adaptive (default): as PosterCache decides; fixed:N: N items ahead; screens:2.5,1.5: so many"
        + " screens ahead and behind; none: what is on the screen"),
    Flag(
      "ladder", .value("SIZE", \.ladder), only: [.scroll],
      "small size that comes first where the wanted one would be late, such as w92"),
    Flag(
      "plot", .value("FILE.png", \.plot), only: [.scroll],
      "draw what was visible, blank and prefetched over time"),
    Flag(
      "simulate", .on(\.simulate), only: [.scroll],
      "compute the scroll instead of waiting for it: no network, posters of about 40 KB"),
  ]

  /// Options of commands that look after what is stored.
  private static let store: [Flag] = [
    Flag(
      "sort", .value("ORDER", \.sort), only: [.ls],
      "lru: the last to be evicted first (default), size: the largest first, url: by address"),
    Flag(
      "repair", .on(\.repair), only: [.verify],
      "drop what is damaged, give back lost space, rebuild the index if it must be"),
    Flag(
      "to", .value("SIZE|DIR", \.to), only: [.trim, .export],
      "trim: the size to come down to, such as 512M; export: the directory to write into"),
  ]

  /// Options of the embedded origin.
  private static let origin: [Flag] = [
    Flag(
      "listen", .value("HOST:PORT", \.listen), only: [.demoOrigin],
      "address to listen on (default 127.0.0.1:0, a free port)"),
    Flag(
      "latency", .value("TIME", \.latency), only: [.demoOrigin, .scroll],
      "answer each request so late: 80ms, 80 or 0.08s (scroll --demo: 80ms)"),
    Flag(
      "bandwidth", .value("RATE", \.bandwidth), only: [.demoOrigin, .scroll],
      "what all answers share: 20Mbit/s, or 2.5MB/s; 20M alone is in bits for scroll (default 20M,"
        + " or unlimited) and in bytes for demo-origin"),
    Flag(
      "fault", .values("SPEC", \.faults), only: [.demoOrigin],
      "answer some paths wrongly, such as /t/p/*=status:503#2; may be repeated"),
    Flag(
      "require-credential", .on(\.requireCredential), only: [.demoOrigin],
      "answer lists with 401 if no API key or token is sent, as TMDB does"),
  ]

  private static let everywhere: [Flag] = [
    Flag(
      "cache-dir", .value("DIR", \.cacheDirectory),
      "the cache directory (default $POSTERCACHE_DIR, $XDG_CACHE_HOME/postercache or"
        + " ~/.cache/postercache; scroll: an empty one that goes when it ends)"
    ),
    Flag(
      "disk-limit", .value("SIZE", \.diskLimit),
      "new limit of the cache directory, such as 512M or 2G; stays with it (1G in a new one)"),
    Flag(
      "memory-limit", .value("SIZE", \.memoryLimit), "posters kept in memory (default a 64th of it)"
    ),
    Flag(
      "offline", .on(\.offline), "never use the network: what is cached is used, expired or not"),
    Flag(
      "connections", .value("N", \.connections), "transfers at once to one host (default 16)"),
    Flag(
      "rate", .value("N", \.rate),
      "requests a second to one host (default: 40 for TMDB's hosts, no limit for others)"),
    Flag("timeout", .value("S", \.timeout), "longest time of one transfer (default 60)"),
    Flag(
      "connect-timeout", .value("S", \.connectTimeout), "longest time to connect (default 10)"),
    Flag(
      "retries", .value("N", \.retries),
      "how often a request is repeated after a passing failure (default 2)"),
    Flag(
      "max-bytes", .value("SIZE", \.maxBytes), "largest picture accepted, at most 1G (default 32M)"),
    Flag("proxy", .value("URL", \.proxy), "proxy to use instead of the environment's"),
    Flag(
      "cacert", .value("FILE", \.certificateAuthorities),
      "certificate authorities to trust instead of the system's, PEM"),
    Flag(
      "allow-private", .on(\.allowPrivate),
      "let public names and redirects lead to private addresses"),
    Flag("json", .on(\.json), "print results as JSON"),
    Flag(
      "progress", .value("WHEN", \.progress),
      "progress bar: \(ProgressMode.allCases.names) (default auto: on a terminal)"),
    Flag("quiet", short: "q", .on(\.quiet), "print failures and data only"),
    Flag("verbose", short: "v", .on(\.verbose), "print what happens to each page and poster"),
    Flag("help", short: "h", .on(\.help), "print this help"),
    Flag("version", short: "V", .on(\.version), "print the version"),
  ]
}

/// In which order `ls` lists.
enum EntryOrder: String, CaseIterable, Sendable {
  /// The last to be evicted first.
  case lru
  /// The largest first, those of one size by address.
  case size
  /// By address, byte by byte.
  case url
}

/// When to draw a progress bar.
enum ProgressMode: String, CaseIterable, Sendable {
  case auto, always, never
}

extension Collection where Element: RawRepresentable, Element.RawValue == String {
  /// The values as a message names them: `day, week`.
  var names: String { map(\.rawValue).joined(separator: ", ") }
}
