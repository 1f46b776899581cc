/// Reads one picture of one kind: the header when it is made, then rows from top to bottom.
///
/// The calls come in this order: `plan`, `start`, `read` until there are no more rows, `finish`. The
/// picture's bytes must stay where they are until the reader is gone.
protocol PictureReading: ~Copyable {
  /// What the header says.
  var header: ImageHeader { get }
  /// The embedded ICC profile, as it is in the file.
  var colorProfile: [UInt8]? { get }

  /// How the picture would be read for somebody who wants `target`, a size as stored. Allocates nothing.
  ///
  /// - Parameter damage: what to do with a damaged picture.
  func plan(for target: PixelSize, damage: DamagePolicy) -> ReadingPlan

  /// Prepares for reading as planned.
  mutating func start(_ plan: ReadingPlan) throws(PosterError)

  /// Reads the next `count` rows, not more than there are, into `rows`: straight RGBA8, without gaps, 0
  /// before unless the plan writes every pixel. Returns how many there were: less only where damage is tolerated.
  mutating func read(_ count: Int, into rows: UnsafeMutableRawPointer) throws(PosterError) -> Int

  /// Looks at what follows the last row. Returns whether all of the picture was there.
  mutating func finish() throws(PosterError) -> Bool
}

/// What a reader does with a picture that is damaged, or whose end is missing.
enum DamagePolicy: Sendable {
  /// The first sign of damage is an error.
  case refuse
  /// Whatever can be read is given.
  case tolerate
}

/// How a picture is going to be read.
struct ReadingPlan: Sendable {
  /// The size of what comes: the stored size or a fraction of it.
  let size: PixelSize
  /// How much of that size the picture takes up, where scaling has rounded it up; `nil` all of it.
  var extent: (width: Double, height: Double)?
  /// Bytes that the codec will need for itself, at most.
  let codecBytes: Int
  /// Whether all rows must be read at once.
  let comesWhole: Bool
  /// Whether reading writes every pixel; if not, they must be 0 before.
  let writesAll: Bool
  /// Whether every pixel will be opaque.
  let isOpaque: Bool
  /// What is done with damage.
  let damage: DamagePolicy
}
