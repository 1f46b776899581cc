/// What a torturing process is asked to do.
struct TortureSettings {
  let directory: String
  let seed: UInt64
  /// A new limit for the directory in bytes.
  var limit: Int?
  /// The first of the posters' numbers, and how many there are.
  var first = 0
  var count = 300
  /// The version of what is stored first.
  var version = 1
  /// Bytes of pictures to store; without end if 0.
  var bytes = 0
  /// Whether to pin, remove and trim in between: bits 1, 2 and 4.
  var edits = 0
  /// How long to go on.
  var seconds = 0
  /// How often to do it, where that counts instead of the time.
  var rounds = 0
  /// How many threads do it at once.
  var threads = 1

  /// - Returns: `nil` for arguments that are not `NAME=NUMBER`.
  init?(_ directory: String, seed: UInt64, _ arguments: some Sequence<String>) {
    self.directory = directory
    self.seed = seed
    let names: [Substring: WritableKeyPath<TortureSettings, Int>] = [
      "first": \.first, "count": \.count, "version": \.version, "bytes": \.bytes,
      "edits": \.edits, "seconds": \.seconds, "rounds": \.rounds, "threads": \.threads,
    ]
    for argument in arguments {
      let parts = argument.split(separator: "=")
      guard parts.count == 2, let value = Int(parts[1]) else { return nil }
      if parts[0] == "limit" {
        limit = value
      } else if let name = names[parts[0]] {
        self[keyPath: name] = value
      } else {
        return nil
      }
    }
  }
}
