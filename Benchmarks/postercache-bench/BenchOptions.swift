import Glibc

/// What was asked for on the command line.
struct BenchOptions {
  /// The suites to run; all of them where none is named.
  var suites: [any Suite.Type] = allSuites
  /// Fewer rounds and posters, done within six minutes or so.
  var isQuick = false
  /// Rounds that count, instead of each contest's own number; at least 5.
  var rounds: Int?
  /// Where to write the report as JSON and as Markdown.
  var jsonFile: String?
  var markdownFile: String?
  /// Where to put plots of the curves, one file each; `nil` makes none.
  var plotsDirectory: String?
  /// A directory on the disk that is to be measured.
  var diskDirectory = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
  /// Where posters are kept from one run to the next; `nil` draws them anew.
  var postersDirectory: String?
  /// A Python that has diskcache and Pillow, and the program it runs; `nil` leaves the stores in Python out.
  var python: String?
  var stores: String?
  /// The library that counts allocations and copies (`Benchmarks/peers/counting.c`); `nil` leaves
  /// those counts out.
  var counting: String?
  /// What makes a slow link (`Benchmarks/link/shaped`); `nil` leaves out what needs one.
  var link: String?
  /// Foundation's `URLSession` as a program (`Benchmarks/peers/urlsession.swift`); `nil` leaves it
  /// out.
  var urlSession: String?
  /// A directory of JPEGs to decode, named `w342*.jpg` and `w500*.jpg`; `nil` draws some.
  var picturesDirectory: String?
  /// Pillow as a program (`Benchmarks/peers/thumbnails.py`, run by ``python``), and libvips as one
  /// (made of `Benchmarks/peers/vips_thumbnails.c`); `nil` leaves them out.
  var thumbnails: String?
  var vips: String?
  /// Flings of real fingers, as JSON; `nil` leaves them out.
  var flingsFile = getenv("POSTERCACHE_CORPUS").map {
    String(cString: $0) + "/traces/flings_android.json"
  }
  /// The command, where it was built.
  var command =
    Self.ownPath.split(separator: "/").dropLast().map { "/\($0)" }.joined()
    + "/postercache"

  /// Posters in a list.
  var posterCount: Int { isQuick ? 1000 : 3000 }

  /// The path of this program.
  static let ownPath: String = {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    return String(decoding: buffer[..<max(count, 0)].map(UInt8.init(bitPattern:)), as: UTF8.self)
  }()

  /// `nil` where help was asked for.
  init?(_ arguments: [String]) throws(BenchError) {
    var named: [any Suite.Type] = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      func value() throws(BenchError) -> String {
        guard let value = rest.popFirst() else { throw BenchError("\(argument) needs a value") }
        return value
      }
      switch argument {
      case "--help": return nil
      case "--quick": isQuick = true
      case "--rounds":
        let text = try value()
        guard let count = Int(text), (5...1000).contains(count) else {
          throw BenchError("--rounds must be 5 to 1000, not \(text)")
        }
        rounds = count
      case "--json": jsonFile = try value()
      case "--markdown": markdownFile = try value()
      case "--plots": plotsDirectory = try value()
      case "--disk-dir": diskDirectory = try value()
      case "--posters-dir": postersDirectory = try value()
      case "--python": python = try value()
      case "--stores": stores = try value()
      case "--counting": counting = try value()
      case "--link": link = try value()
      case "--urlsession": urlSession = try value()
      case "--pictures-dir": picturesDirectory = try value()
      case "--thumbnails": thumbnails = try value()
      case "--vips": vips = try value()
      case "--flings": flingsFile = try value()
      case "--command": command = try value()
      default:
        guard let suite = allSuites.first(where: { $0.name == argument }) else {
          throw BenchError("no suite or option \(argument); try --help")
        }
        named.append(suite)
      }
    }
    if !named.isEmpty { suites = named }
  }

  static var help: String {
    let suites = allSuites.map { suite in
      "  \(suite.name)" + String(repeating: " ", count: max(1, 16 - suite.name.count))
        + suite.abstract
    }
    return """
      postercache-bench [suite ...] [option ...]

      Measures postercache beside what people would use instead. Suites (default: all):
      \(suites.joined(separator: "\n"))

      Options:
        --quick             fewer rounds and posters; about six minutes
        --rounds N          rounds that count, 5 to 1000
        --json FILE         write the report as JSON
        --markdown FILE     write the report as Markdown; it is printed in any case
        --plots DIR         draw the curves of the wait and scroll suites as SVG files into DIR
        --disk-dir DIR      a directory on the disk to be measured (default: $TMPDIR or /tmp)
        --posters-dir DIR   keep the posters here for later runs
        --python FILE       a Python that has diskcache and Pillow, and
        --stores FILE       the program of the stores in Python (Benchmarks/peers/stores.py)
        --thumbnails FILE   the program of Pillow (Benchmarks/peers/thumbnails.py)
        --vips FILE         the program made of Benchmarks/peers/vips_thumbnails.c
        --pictures-dir DIR  JPEGs to decode, named w342*.jpg and w500*.jpg (default: drawn ones)
        --counting FILE     the library made of Benchmarks/peers/counting.c
        --link FILE         what makes a slow link (Benchmarks/link/shaped)
        --urlsession FILE   the program made of Benchmarks/peers/urlsession.swift
        --flings FILE       recorded flings for the scroll suite (default: those of $POSTERCACHE_CORPUS)
        --command FILE      the postercache command (default: the one beside this program)
      """
  }
}
