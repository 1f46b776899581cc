extension Prefetcher {
  /// How a prefetcher asks, and what it leaves behind.
  public struct Configuration: Sendable {
    /// What a prefetch leaves behind for the moment at which its cell is shown.
    public enum Yield: Sendable, Hashable {
      /// Pixels in memory, ready to be drawn.
      case pixels(Rendition)
      /// The encoded poster in memory (and on disk, if there is a disk tier).
      case poster
      /// The poster on disk alone; in memory if there is no disk tier.
      case stored
    }

    /// How far ahead is looked, and what that may cost. Its ``VisibleWindow/Configuration/previewShare`` is
    /// used if ``previewSize`` is set; an eighth if it says nothing.
    public var window = VisibleWindow.Configuration()
    /// The size in which posters are asked for. Default ``PosterSize/w342``.
    public var size = PosterSize.w342
    /// The width of what is shown where the wanted one would come too late, such as ``PosterSize/w92``;
    /// `nil` (the default) for one size alone.
    public var previewSize: PosterSize?
    /// Where the pictures are whose lists name paths.
    public var images = ImageHost.tmdb
    /// What a prefetch leaves behind. Default ``Yield/poster``.
    public var yield = Yield.poster
    /// How many of the items that ``Prefetcher/prefetchItems(at:)`` named are on their way at once, at most.
    /// Default 6.
    public var wishLimit = 6
    /// Called when a picture has come, with whether it was asked for before its cell was visible; once for
    /// each of those who waited for it. From any thread, without a lock held.
    package var onPicture: (@Sendable (WindowAsk, _ isPrefetch: Bool) -> Void)?

    public init() {}
  }

  /// What happened to the lists.
  public enum Change: Sendable {
    /// A section has more items, fewer or other ones.
    case items(section: Int)
    /// A section has no further page.
    case end(section: Int)
    /// A page could not be loaded; it is asked for again later, unless the credentials were refused.
    case pageFailed(section: Int, PosterError)
  }

  /// How a section's pages stand.
  public enum Pages: Sendable {
    /// There is a next page, which nobody has asked for.
    case idle
    /// The next page is on its way.
    case loading
    /// The next page could not be had.
    case failed(PosterError)
    /// All pages are there, or the credentials were refused.
    case ended
  }

  /// What a prefetcher did since it was made.
  ///
  /// ``asked`` is always ``finished`` + ``failed`` + ``dropped`` + ``inFlight``, and the same holds for pages.
  public struct Statistics: Sendable, Hashable {
    /// Pictures asked for. A prefetch whose cell became visible is asked for once more.
    public var asked = 0
    /// Those among them that were asked for because somebody looked at their cells.
    public var askedVisible = 0
    /// Pictures that came.
    public var finished = 0
    /// Pictures that could not be had.
    public var failed = 0
    /// Pictures that were let go of before they came.
    public var dropped = 0
    /// Pictures on their way.
    public var inFlight = 0
    /// Pages asked for.
    public var pagesAsked = 0
    /// Pages that came.
    public var pagesFinished = 0
    /// Pages that could not be had.
    public var pagesFailed = 0
    /// Pages that were let go of before they came.
    public var pagesDropped = 0
    /// Pages on their way.
    public var pagesInFlight = 0
  }
}
