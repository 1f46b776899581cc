import Glibc

/// What was asked for on the command line.
struct BenchOptions {
  /// The suites to run; all of them where none is named.
  var suites: [any Suite.Type] = allSuites
  /// Fewer rounds and posters, done within three minutes.
  var isQuick = false
  /// Rounds that count, instead of each contest's own number; at least 5.
  var rounds: Int?
  /// Where to write the report as JSON.
  var jsonFile: String?
  /// What counts and ratios are compared with; `nil` compares with nothing.
  var baselineFile: String?
  /// Where to write what a later run is to be compared with.
  var newBaselineFile: String?
  /// Reports of earlier runs, to be shown instead of measuring: the later ones' suites replace those of
  /// the earlier ones.
  var earlierReports: [String] = []
  /// Where to write the report for people, `benchmarks.md` and its pictures; `nil` writes none.
  var reportDirectory: String?
  /// What was written by hand for the report for people.
  var notesDirectory = "Benchmarks/notes"
  /// A directory on the disk that is to be measured.
  var diskDirectory = Self.environment("TMPDIR") ?? "/tmp"
  /// Where posters are kept from one run to the next; `nil` draws them anew.
  var postersDirectory: String?
  /// The rivals that no package has.
  var peers = PeerDirectory(path: ".build/bench")
  /// Real inputs: photographs to decode, recorded flings, traces of requests; `nil` leaves them out or
  /// draws others.
  var corpusDirectory = Self.environment("POSTERCACHE_CORPUS")
  /// The command, where it was built.
  var command = "\(Self.ownDirectory)/postercache"

  /// A variable of the environment, unless it is empty.
  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// What `name` is in the corpus, or `nil` where it is not there.
  func inCorpus(_ name: String) -> String? {
    corpusDirectory.map { "\($0)/\(name)" }.flatMap { access($0, R_OK) == 0 ? $0 : nil }
  }

  /// Posters in a list.
  var posterCount: Int { isQuick ? 600 : 3000 }

  /// The path of this program, and that of its directory.
  static let ownPath: String = {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    return String(decoding: buffer[..<max(count, 0)].map(UInt8.init(bitPattern:)), as: UTF8.self)
  }()
  static let ownDirectory = ownPath.split(separator: "/").dropLast().map { "/\($0)" }.joined()

  /// `nil` where help was asked for.
  ///
  /// - Throws: a ``BenchError`` with the status of wrong usage.
  init?(_ arguments: [String]) throws(BenchError) {
    var named: [any Suite.Type] = []
    var isCorpusNamed = false
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      func value() throws(BenchError) -> String {
        guard let value = rest.popFirst(), !value.isEmpty else {
          throw .usage("\(argument) needs a value")
        }
        return value
      }
      switch argument {
      case "--help": return nil
      case "--quick": isQuick = true
      case "--rounds":
        let text = try value()
        guard let count = Int(text), (5...1000).contains(count) else {
          throw .usage("--rounds must be 5 to 1000, not \(text)")
        }
        rounds = count
      case "--json": jsonFile = try value()
      case "--baseline": baselineFile = try value()
      case "--write-baseline": newBaselineFile = try value()
      case "--from": earlierReports.append(try value())
      case "--report": reportDirectory = try value()
      case "--notes": notesDirectory = try value()
      case "--disk-dir": diskDirectory = try value()
      case "--posters-dir": postersDirectory = try value()
      case "--peers": peers = PeerDirectory(path: try value())
      case "--corpus":
        corpusDirectory = try value()
        isCorpusNamed = true
      case "--command": command = try value()
      default:
        guard let suite = allSuites.first(where: { $0.name == argument }) else {
          throw .usage("no suite or option \(argument); try --help")
        }
        if !named.contains(where: { $0 == suite }) { named.append(suite) }
      }
    }
    if !named.isEmpty { suites = named }
    // Quick runs are compared with those of others: their inputs are the same everywhere.
    if isQuick, !isCorpusNamed { corpusDirectory = nil }
  }

  static var help: String {
    let suites = allSuites.map { suite in
      "  \(suite.name)" + String(repeating: " ", count: max(1, 20 - suite.name.count))
        + suite.abstract
    }
    return """
      postercache-bench [suite ...] [option ...]

      Measures postercache beside what people would use instead. Suites (default: all):
      \(suites.joined(separator: "\n"))

      Options:
        --quick             fewer rounds and posters; under three minutes
        --rounds N          rounds that count, 5 to 1000 (default: each contest's own)
        --json FILE         write what was measured as JSON
        --baseline FILE     compare with this baseline: end with 1 where, in two of three runs, a count
                            had grown by more than 5% or a ratio to a rival or limit had halved, or
                            where a count could not be made
        --write-baseline FILE
                            write a baseline of this run; of one that is there already, what is
                            lower of each ratio is kept
        --report DIR        write the report for people: DIR/benchmarks.md and its pictures
        --notes DIR         what is written by hand in that report (default: Benchmarks/notes)
        --from FILE         do not measure: show what --json wrote earlier; may be repeated, then
                            later files' suites replace those of earlier ones
        --peers DIR         where Benchmarks/peers/install put the rivals (default: .build/bench)
        --disk-dir DIR      a directory on the disk to be measured (default: $TMPDIR or /tmp)
        --posters-dir DIR   keep the posters here for later runs
        --corpus DIR        real inputs, as far as they are there: posters/w342*.jpg and w500*.jpg to decode,
                            traces/flings_android.json, traces/cache2k (default: $POSTERCACHE_CORPUS, in
                            quick runs none; without, pictures are drawn and traces left out)
        --command FILE      the postercache command (default: the one beside this program)

      A rival that is not installed is named in the report, which ends with 0 all the same. Ends with 1
      where a suite could not be measured, a file not be read or written, or something was found worse
      than the baseline; 2 where the arguments are wrong.
      """
  }
}
