import FoundationEssentials
import PosterCache
import ScrollReplay

/// What is scrolled and how, as the options say.
enum ScrollScene {
  /// Items of a grid and of a row in lists that are made up.
  private static let (gridItems, rowItems) = (3000, 60)

  /// The screen without items.
  static func layout(_ options: Settings.Scroll) -> ScreenLayout {
    layout(options, gridItems: 0, rowItems: 0)
  }

  /// The screen with lists of which nobody reaches the end.
  static func endlessLayout(_ options: Settings.Scroll) -> ScreenLayout {
    layout(options, gridItems: gridItems, rowItems: rowItems)
  }

  private static func layout(
    _ options: Settings.Scroll, gridItems: Int, rowItems: Int
  ) -> ScreenLayout {
    ScreenLayout(
      view: (Double(options.viewport.width), Double(options.viewport.height)),
      cell: (Double(options.cell.width), Double(options.cell.height)),
      sections: options.sections.map { $0.isRow ? .row(items: rowItems) : .grid(items: gridItems) })
  }

  /// The movements, as long as is wanted.
  ///
  /// - Throws: ``PosterError/Code/invalidConfiguration`` if there is no such file, no trace in it, or a
  ///   longer one than is replayed.
  static func trace(_ options: Settings.Scroll) throws(PosterError) -> ScrollTrace {
    let layout = endlessLayout(options)
    var trace: ScrollTrace
    switch options.trace {
    case .seed(let seed, let kind):
      trace = .seeded(kind, seed: seed, seconds: options.seconds ?? 14, layout: layout)
    case .file(let path):
      trace = try read(path, end: layout.farthestOffset)
      guard let last = trace.samples.last, last.seconds > 0 else {
        throw FlagParser.usage("\(path): not a usable scroll trace: it takes no time")
      }
    }
    let longest = Settings.Scroll.maximumSeconds
    guard let last = trace.samples.last, last.seconds > options.seconds ?? longest else {
      return trace
    }
    guard let limit = options.seconds else {
      throw FlagParser.usage(
        "the trace lasts \(Int(last.seconds)) seconds: replay its beginning with --seconds, at most"
          + " \(Int(longest))")
    }
    trace.samples.removeAll { $0.seconds > limit }
    // It ends where it was cut, not at the last movement before.
    if var end = trace.samples.last {
      end.seconds = limit
      trace.samples.append(end)
    }
    return trace
  }

  private static func read(_ path: String, end: Double) throws(PosterError) -> ScrollTrace {
    let data = try TraceFile.bytes(at: path, limit: ScrollTrace.maximumBytes)
    let name = path.split(separator: "/").last.map(String.init) ?? path
    do {
      return try ScrollTrace(json: data, name: name)
    } catch {
      // Recordings of flings have another form.
      guard RecordedFling.areHeld(by: data) else {
        throw FlagParser.usage("\(path): \(error.message)")
      }
    }
    do {
      return .recorded(try RecordedFling.all(json: data), seed: 1, end: end)
    } catch {
      throw FlagParser.usage("\(path): \(error.message)")
    }
  }
}
