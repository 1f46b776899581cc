/// One page of a list: what did not appear before, and what brings no new picture.
public struct FeedPage: Sendable, Hashable {
  /// Loads a page of a list; usually ``PosterPipeline/page(_:)``.
  public typealias Load =
    @Sendable (PageRequest) async throws(PosterError) -> PageResponse

  /// How many entries bring no new picture, and why.
  public struct Skipped: Sendable, Hashable {
    /// Entries without a picture of the kind that is wanted. They are among the page's items all the same.
    public var noPath: Int
    /// Entries that appeared before, and are left out: lists shift while they are being read.
    public var duplicate: Int
    /// Entries that cannot be understood, and are left out: ``FeedPage/faults`` says why.
    public var unsupported: Int

    public init(noPath: Int = 0, duplicate: Int = 0, unsupported: Int = 0) {
      self.noPath = noPath
      self.duplicate = duplicate
      self.unsupported = unsupported
    }
  }

  /// An entry that cannot be understood.
  public struct Fault: Sendable, Hashable, CustomStringConvertible {
    /// Where it stands in its source.
    public enum Place: Sendable, Hashable, CustomStringConvertible {
      /// The entry's index in the whole list, from 0.
      case item(Int)
      /// The line's number, from 1.
      case line(Int)

      /// `item 3` or `line 17`.
      public var description: String {
        switch self {
        case .item(let index): "item \(index)"
        case .line(let number): "line \(number)"
        }
      }
    }

    public var place: Place
    /// What is wrong with it: one line without a full stop, and without what may be secret.
    public var reason: String

    public init(_ place: Place, _ reason: String) {
      self.place = place
      self.reason = reason
    }

    /// Place and reason: `line 17: not a usable address, no scheme: abc`.
    public var description: String { "\(place): \(reason)" }
  }

  /// The page's number, from 1.
  public var number: Int
  /// The new entries in the list's order, with a picture or without one.
  public var items: [FeedItem]
  /// Entries looked at: those in ``items`` and those that were left out.
  public var itemCount: Int
  /// The entries that bring no new picture.
  public var skipped: Skipped
  /// Why entries cannot be understood; as many as ``Skipped/unsupported`` counts.
  public var faults: [Fault]

  public init(
    number: Int, items: [FeedItem], itemCount: Int, skipped: Skipped, faults: [Fault] = []
  ) {
    self.number = number
    self.items = items
    self.itemCount = itemCount
    self.skipped = skipped
    self.faults = faults
  }
}
