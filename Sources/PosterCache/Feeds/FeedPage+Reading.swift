extension FeedPage {
  /// What `read` makes of the page that `request` asks for. What is no page although its server says that
  /// all is well (``PosterError/Code/malformedPage``) is asked for once more, past every cache: it may have
  /// come half, or from somebody on the way.
  static func read<Content>(
    _ request: PageRequest, _ load: Load, _ read: (PageResponse) throws(PosterError) -> Content
  ) async throws(PosterError) -> Content {
    let response = try await load(request)
    do throws(PosterError) {
      return try read(response)
    } catch {
      guard error.code == .malformedPage else { throw error }
    }
    var again = request
    again.mode = .refresh
    return try read(try await load(again))
  }
}
