import FoundationEssentials

/// Values as JSON files, with keys in order, so that two of them can be compared line by line.
enum JSONFile {
  static func write(_ value: some Encodable, to path: String) throws(BenchError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      try TextFile.write(Array(try encoder.encode(value)) + [UInt8(ascii: "\n")], to: path)
    } catch let error as BenchError {
      throw error
    } catch {
      throw BenchError("cannot write \(path): \(error)")
    }
  }

  /// - Parameter what: what the file should be, for the message.
  static func read<Value: Decodable>(
    _ type: Value.Type, from path: String, what: String
  ) throws(BenchError) -> Value {
    let bytes = try TextFile.read(path)
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch {
      throw BenchError("\(path) is no \(what) of this benchmark")
    }
  }
}
