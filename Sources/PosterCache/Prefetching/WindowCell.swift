/// A place on the screen: an item of a section.
public struct WindowCell: Sendable, Hashable, Comparable {
  /// The section's index, from 0.
  public var section: Int
  /// The item's index in its section, from 0.
  public var item: Int

  public init(section: Int, item: Int) {
    self.section = section
    self.item = item
  }

  public static func < (left: WindowCell, right: WindowCell) -> Bool {
    left.section != right.section ? left.section < right.section : left.item < right.item
  }
}
