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

  private struct Version: Decodable {
    let schema: Int
  }

  /// - Parameters:
  ///   - schema: the version of the shape that is understood.
  ///   - what: what the file should be, for the message.
  static func read<Value: Decodable>(
    _ type: Value.Type, schema: Int, from path: String, what: String
  ) throws(BenchError) -> Value {
    let bytes = try TextFile.read(path)
    let found = (try? JSONDecoder().decode(Version.self, from: Data(bytes)))?.schema
    if let found, found != schema {
      throw BenchError("\(path) is a \(what) of another version (\(found), not \(schema))")
    }
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch {
      throw BenchError("\(path) is no \(what) of this benchmark")
    }
  }
}
