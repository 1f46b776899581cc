import FoundationEssentials

/// Paths of two parts, as UIKit uses them: the section and the item in it.
extension IndexPath {
  /// The path of the item `item` of the section `section`.
  public init(item: Int, section: Int) {
    self.init(indexes: [section, item])
  }

  /// The section's index; -1 if the path has not two parts, where UIKit would trap. Setting it does nothing
  /// then.
  public var section: Int {
    get { count == 2 ? self[0] : -1 }
    set { if count == 2 { self[0] = newValue } }
  }

  /// The item's index in its section; -1 if the path has not two parts, where UIKit would trap. Setting it
  /// does nothing then.
  public var item: Int {
    get { count == 2 ? self[1] : -1 }
    set { if count == 2 { self[1] = newValue } }
  }
}

extension WindowCell {
  /// The place that `path` names; `nil` if it has not two parts, or a negative one.
  init?(_ path: IndexPath) {
    guard path.section >= 0, path.item >= 0 else { return nil }
    self.init(section: path.section, item: path.item)
  }

  /// The path of this place.
  var indexPath: IndexPath { IndexPath(item: item, section: section) }
}
