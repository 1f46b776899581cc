import FoundationEssentials

/// A server's word that it has no such picture, remembered for a while.
public struct Absence: Sendable, Hashable {
  /// The status: 404 or 410.
  public var status: Int
  /// When the server said so, in whole milliseconds.
  public var notedAt: Date
  /// Until when it need not be asked again, in whole milliseconds.
  public var until: Date

  public init(status: Int, notedAt: Date, until: Date) {
    self.status = status
    self.notedAt = Date(milliseconds: notedAt.milliseconds)
    self.until = Date(milliseconds: until.milliseconds)
  }
}
