/// One picture that a window wants for one of its cells.
public struct WindowAsk: Sendable, Hashable {
  /// How large a picture: the steps of a ladder that a cell climbs.
  public enum Rung: Int, Sendable, Hashable, Comparable {
    /// A much smaller size of the same poster, for a cell that would stay blank otherwise.
    case preview
    /// The wanted size.
    case full

    public static func < (left: Rung, right: Rung) -> Bool { left.rawValue < right.rawValue }
  }

  /// The place that it is for.
  public var cell: WindowCell
  /// How large.
  public var rung: Rung

  public init(_ cell: WindowCell, _ rung: Rung = .full) {
    self.cell = cell
    self.rung = rung
  }
}
