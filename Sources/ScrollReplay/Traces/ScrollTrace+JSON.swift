import FoundationEssentials
import PosterCache

extension ScrollTrace {
  /// The most samples that a file may have.
  package static let maximumSamples = 1_000_000
  /// The largest file, in bytes.
  package static let maximumBytes = 64 << 20
  /// The longest trace, in seconds: a day.
  package static let maximumSeconds = 86_400.0

  /// Reads a trace from JSON, in either of two forms.
  ///
  /// Our own is an object; `name` and each `rows` may be missing. Of a name the first 80
  /// characters count, without control characters. Times are seconds since any moment, in
  /// ascending order, offsets are points, rows go by their section's index:
  ///
  /// ```
  /// {"name": "two flings", "samples": [{"t": 0, "y": 0}, {"t": 0.016, "y": 12.5, "rows": {"1": 40}}]}
  /// ```
  ///
  /// The other is an array of arrays of time, offset and, if anything, velocity, which is not needed:
  /// `[[0, 0, 0], [0.004, 2.4, 600]]`.
  ///
  /// - Parameter name: what it is called if it does not say so itself.
  /// - Throws: ``PosterError/Code/invalidConfiguration`` if it is neither, is empty, has more than
  ///   ``maximumSamples`` samples or ``maximumBytes`` bytes, lasts longer than ``maximumSeconds``, goes
  ///   back in time or holds numbers that are not finite.
  package init(json: Data, name: String = "trace") throws(PosterError) {
    guard json.count <= Self.maximumBytes else {
      throw Self.unusable("it has more than \(Self.maximumBytes) bytes")
    }
    let file: File
    do {
      file = try JSONDecoder().decode(File.self, from: json)
    } catch let error as RowNameError {
      throw Self.unusable("\"\(error.name.prefix(40))\" is no section's index")
    } catch {
      throw Self.unusable(
        "it is neither {\"samples\": [{\"t\": ..., \"y\": ...}]} nor [[t, y, v], ...]")
    }
    self.init(name: Self.shown(file.name ?? name), samples: file.samples)
    try check()
    // Whatever moment the file counts from.
    let begin = samples[0].seconds
    if begin != 0 {
      for index in samples.indices { samples[index].seconds -= begin }
    }
  }

  /// A name as it may stand in a line of a table: a file may say anything.
  private static func shown(_ name: String) -> String {
    String(
      String.UnicodeScalarView(
        name.unicodeScalars.prefix(80).map { scalar in
          scalar.properties.generalCategory == .control ? "?" : scalar
        }))
  }

  private func check() throws(PosterError) {
    guard !samples.isEmpty else { throw Self.unusable("it has no samples") }
    guard samples.count <= Self.maximumSamples else {
      throw Self.unusable("it has more than \(Self.maximumSamples) samples")
    }
    var previous = samples[0].seconds
    for (index, sample) in samples.enumerated() {
      guard sample.seconds.isFinite, sample.offset.isFinite,
        sample.rowOffsets.values.allSatisfy(\.isFinite)
      else { throw Self.unusable("sample \(index) holds a number that is not finite") }
      guard sample.seconds >= previous else {
        throw Self.unusable("sample \(index) goes back in time")
      }
      previous = sample.seconds
    }
    guard previous - samples[0].seconds <= Self.maximumSeconds else {
      throw Self.unusable("it lasts longer than a day")
    }
  }

  private static func unusable(_ reason: String) -> PosterError {
    PosterError(.invalidConfiguration, "not a usable scroll trace: \(reason)")
  }

  /// The trace in our own form, a sample a line.
  package var json: String {
    let lines = samples.map { sample in
      var members = "\"t\":\(sample.seconds),\"y\":\(sample.offset)"
      if !sample.rowOffsets.isEmpty {
        let rows = sample.rowOffsets.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        members += ",\"rows\":{\(rows.joined(separator: ","))}"
      }
      return "{\(members)}"
    }
    return "{\"name\":\(JSON.string(name).text),\"samples\":[\n"
      + lines.joined(separator: ",\n") + "\n]}\n"
  }
}

/// The name of a row that is no section's index.
private struct RowNameError: Error {
  let name: String
}

/// A trace's file, whichever form it has.
private struct File: Decodable {
  var name: String?
  var samples: [ScrollTrace.Sample]

  private enum Keys: CodingKey {
    case name, samples
  }

  init(from decoder: any Decoder) throws {
    if var rows = try? decoder.unkeyedContainer() {  // else it may still be an object
      samples = []
      while !rows.isAtEnd {
        var numbers = try rows.nestedUnkeyedContainer()
        samples.append(
          ScrollTrace.Sample(
            seconds: try numbers.decode(Double.self), offset: try numbers.decode(Double.self)))
      }
      return
    }
    let members = try decoder.container(keyedBy: Keys.self)
    name = try members.decodeIfPresent(String.self, forKey: .name)
    samples = try members.decode([Entry].self, forKey: .samples).map(\.sample)
  }

  private struct Entry: Decodable {
    let sample: ScrollTrace.Sample

    private enum Keys: CodingKey {
      case t, y, rows
    }

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: Keys.self)
      var sample = ScrollTrace.Sample(
        seconds: try members.decode(Double.self, forKey: .t),
        offset: try members.decode(Double.self, forKey: .y))
      for (name, offset) in try members.decodeIfPresent([String: Double].self, forKey: .rows) ?? [:]
      {
        guard let section = Int(name), (0..<10_000).contains(section) else {
          throw RowNameError(name: name)
        }
        sample.rowOffsets[section] = offset
      }
      self.sample = sample
    }
  }
}
