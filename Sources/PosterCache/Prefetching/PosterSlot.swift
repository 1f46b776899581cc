/// A place on the screen that shows one poster at a time, such as a cell that is used again and again.
///
/// ``bind(_:preview:placeholder:)`` says which; the slot gets it as pixels and shows a placeholder meanwhile.
/// After a bind no earlier picture is ever shown: ``state`` and ``states`` know the latest state alone,
/// and what comes of an earlier binding is thrown away, its work cancelled. While a slot shows a picture,
/// its pixels are not evicted from ``PosterPipeline/bitmaps``.
///
/// Safe to use from any thread and actor. Letting go of a slot cancels its work and ends ``states``.
public final class PosterSlot: Sendable {
  /// What a slot shows.
  public enum State: Sendable {
    /// It is bound to nothing.
    case empty
    /// The poster is on its way.
    case placeholder(Placeholder)
    /// The poster.
    case image(PosterImage)
    /// The poster could not be had, and there is no preview of it, either. Binding the same request
    /// again tries once more.
    case failed(PosterError)
  }

  /// What a slot shows before its poster.
  public enum Placeholder: Sendable {
    /// The same poster in a smaller size.
    case preview(PosterImage)
    /// The bitmap that it was bound with.
    case bitmap(Bitmap)
    /// The poster's average colour, known from an earlier decode, perhaps by an earlier run.
    case color(PosterColor)
    /// Nothing is known.
    case blank
  }

  let core: SlotCore

  /// An empty slot.
  ///
  /// - Parameters:
  ///   - rendition: how its posters are wanted.
  ///   - onChange: called after each change of ``state`` or ``failure``, for programs that do not wait for ``states``: on
  ///     the thread that binds, or on one of Swift's own once a poster has come, without a lock held.
  ///     It says that something has changed and not what, because the answer may be another one by the
  ///     time somebody looks: have the thread that draws read ``state``.
  public init(
    pipeline: PosterPipeline, rendition: Rendition, onChange: (@Sendable () -> Void)? = nil
  ) {
    core = SlotCore(pipeline: pipeline, rendition: rendition, onChange: onChange)
  }

  deinit { core.end() }

  /// Shows the poster for `request` from now on.
  ///
  /// If its pixels are in memory, they are the state when this returns, without a placeholder before
  /// them. Else it is a placeholder: the preview's pixels if memory has them, the given bitmap, the average
  /// colour if known, or nothing. The poster replaces it, and nothing is ever shown in between; nor does a
  /// preview replace the poster. Where the poster cannot be had, its preview is still shown, and
  /// ``failure`` says why.
  ///
  /// Binding the same request again while its poster is shown or on its way changes nothing. The
  /// priority is ``Priority/visible``, whatever the requests say. Never waits.
  ///
  /// - Parameters:
  ///   - preview: the same poster in a much smaller size (w92 is about a tenth of w342), which is asked for
  ///     first where the poster has to come from its server. In the slot's rendition, too.
  ///   - placeholder: what to show until something of the poster comes.
  public func bind(
    _ request: PosterRequest, preview: PosterRequest? = nil, placeholder: Bitmap? = nil
  ) {
    core.bind(request, preview: preview, placeholder: placeholder)
  }

  /// Shows nothing, and cancels what is on its way.
  public func prepareForReuse() {
    core.prepareForReuse()
  }

  /// What is shown now.
  public var state: State { core.state }

  /// Why the poster could not be had, also where its preview is shown; `nil` unless that is so. Binding the
  /// same request again tries once more.
  public var failure: PosterError? { core.failure }

  /// What is shown, beginning with what is shown now.
  ///
  /// Each consumer gets the latest state when it runs, each state once; states that came and went before
  /// it ran it never sees. A state is taken on the consumer's own actor: one that binds on the same
  /// actor never sees a state of an earlier binding after it has bound. Any number may iterate, each gets
  /// every latest state. Ends when the slot is let go of, which iterating does not prevent, or the
  /// consumer's task is cancelled.
  public var states: States { States(core: core) }

  /// The states of a slot: see ``PosterSlot/states``.
  public struct States: AsyncSequence, Sendable {
    public typealias Element = State
    public typealias Failure = Never

    fileprivate let core: SlotCore

    public func makeAsyncIterator() -> Iterator { Iterator(core: core) }

    /// One consumer.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let core: SlotCore
      private var known: UInt64 = 0

      fileprivate init(core: SlotCore) {
        self.core = core
      }

      /// The latest state, as soon as it is another one than this consumer has got last.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> State? {
        await core.next(&known, isolation: actor)
      }
    }
  }
}
