/// The name of a poster's pixels: which poster, and how they are wanted.
struct ImageKey: Sendable, Hashable {
  let poster: CacheKey
  let rendition: Rendition
}
