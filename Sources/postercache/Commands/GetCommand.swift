import FoundationEssentials
import Glibc
import PosterCache
import PosterServer

/// `get`: one picture, from the cache if it is there.
struct GetCommand {
  private let session: Session
  private let options: Settings.Get
  private var console: Console { session.console }

  init(_ session: Session, _ options: Settings.Get) {
    self.session = session
    self.options = options
  }

  func run() async throws -> CommandStatus {
    if options.destination == .standardOutput(isExplicit: false), isatty(STDOUT_FILENO) == 1 {
      throw FlagParser.usage(
        "a picture would spoil the terminal: name a file with -o FILE, or insist with -o -")
    }
    let servers = try options.source.open()
    defer { servers.demo?.shutdown() }
    let request: PosterRequest
    switch options.picture {
    case .address(let address): request = PosterRequest(address)
    case .path(let path):
      request = try PosterRequest(path: path, size: options.size, images: servers.images.base)
    }
    let pipeline = try openPipeline(demo: servers.demo)
    let rendition = options.rendition
    let result = await withTaskCancellationHandler {
      await Result { () async throws(PosterError) in
        guard let rendition else {
          return Delivery(poster: try await pipeline.poster(for: request))
        }
        let (poster, image) = try await pipeline.posterAndImage(for: request, as: rendition)
        return Delivery(poster: poster, image: image)
      }
    } onCancel: {
      Task.detached { await pipeline.shutdown() }
    }
    switch result {
    case .success(let delivery):
      // Storing may have to wait, for another process that writes: not so whoever wants the picture. A
      // reader that goes away costs nothing all the same.
      let outcome = Result { try deliver(delivery) }
      // The server may still be asked about what has been delivered: that is for the next time.
      await withTaskCancellationHandler {
        await pipeline.finishRevalidating()
      } onCancel: {
        Task.detached { await pipeline.shutdown() }
      }
      await pipeline.shutdown()
      try outcome.get()
      return .success
    case .failure(let error):
      await pipeline.shutdown()
      if Task.isCancelled { return .interrupted }
      console.failure(error, about: request.address)
      // No credential was sent, so none can have been refused.
      return error.code == .unauthorized ? .failure : CommandStatus(error)
    }
  }

  /// A pipeline with the disk tier if the directory can be used, and without it if not: the
  /// picture matters more than the cache.
  private func openPipeline(demo: DemoOrigin?) throws(PosterError) -> PosterPipeline {
    do {
      let directory = try session.settings.cacheDirectory()
      return try session.pipeline(directory: directory, demo: demo)
    } catch  where CommandStatus(error) == .cacheUnavailable {
      console.failure("warning: \(error); going on without a cache")
      return try session.pipeline(directory: nil, demo: demo)
    }
  }

  /// What is delivered: the picture as it came, or its pixels.
  private struct Delivery: Sendable {
    var poster: Poster
    var image: PosterImage?
  }

  private func deliver(_ delivery: Delivery) throws {
    let poster = delivery.poster
    let body = try delivery.image.map { image in PosterBody(copying: try image.bitmap.png()) }
    switch options.destination {
    case .nowhere: break
    case .standardOutput:
      try (body ?? poster.body).withUnsafeBytes { bytes throws(OutputError) in
        try console.result(bytes: bytes)
      }
    case .file(let path):
      try OutputFile.write(body ?? poster.body, to: path)
      if !console.output.isJSON {
        let size = ByteSize(bytes: (body ?? poster.body).count)
        let kind = delivery.image.map { "image/png, \($0.bitmap.size)" }
        console.note(
          "\(path): \(size) \(kind ?? poster.metadata.type.contentType), \(poster.source)")
      }
    }
    if console.output.isJSON { try console.result(Self.json(poster, delivery.image)) }
  }

  static func json(_ poster: Poster, _ image: PosterImage? = nil) -> JSON {
    let size = image.map(\.bitmap.size)
    return .object(
      members(of: poster)
        + (size.map { [("width", .integer($0.width)), ("height", .integer($0.height))] } ?? []))
  }

  private static func members(of poster: Poster) -> [(String, JSON)] {
    [
      ("key", .string(poster.stored.key.description)),
      ("url", .string(poster.metadata.address.canonical)),
      ("source", .string(poster.source.rawValue)),
      // A 203 is a 200 that a proxy has transformed; the cache does not tell them apart.
      ("status", .integer(200)),
      ("bytes", .integer(poster.body.count)),
      ("content_type", .string(poster.metadata.type.contentType)),
      ("sha256", .string(poster.body.withUnsafeBytes(sha256))),
      ("etag", .string(orNull: poster.metadata.etag)),
      ("stored_at", .string(poster.metadata.storedAt.formatted(.iso8601))),
      ("expires_at", .string(poster.metadata.expiresAt.formatted(.iso8601))),
    ]
  }
}
