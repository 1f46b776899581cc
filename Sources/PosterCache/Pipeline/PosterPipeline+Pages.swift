import FoundationEssentials

/// List pages, cached by their own headers.
extension PosterPipeline {
  /// Loads a list page, from the disk tier as long as its server says that it is fresh, and else from its
  /// server, which is asked whether it has changed if it says by what that can be told.
  ///
  /// Every status is an answer; only a transfer that fails throws. What has expired is used without an
  /// answer only as its server allows (`stale-if-error`), and offline. Pages are kept under their address
  /// alone, whoever asks for them next: of what was asked for with a credential only what the server
  /// releases for everybody (`Cache-Control: public`, `must-revalidate` or `s-maxage`, and neither
  /// `private` nor `Vary: Authorization`; RFC 9111, section 3.5). Kept are answers of status 200 that are
  /// whole JSON, or text, of at most 1 MiB.
  ///
  /// - Throws: ``PosterError/Code/offline`` for a page that is not kept, and what the transfer failed with.
  public func page(_ request: PageRequest) async throws(PosterError) -> PageResponse {
    try ForkGuard.check()
    // A pipeline that must not use the network does not, whoever asks.
    let mode = mode == .offline ? .offline : request.mode ?? mode
    let stored = storedPage(for: request)
    let verdict = tiers.policy.verdict(
      on: stored?.metadata, leastLifetimeSeconds: request.leastLifetimeSeconds, mode: mode,
      now: tiers.clock.now())
    switch (verdict, stored) {
    case (.use, let stored?):
      return PageResponse(status: 200, body: stored.body, source: .disk)
    // Whoever reads a list wants to know what is new in it, and may wait for that.
    case (.useAndRevalidate, let stored?):
      return try await page(request, mode, knowing: stored, mayUse: true)
    case (.revalidate(let mayUse), let stored?):
      return try await page(request, mode, knowing: stored, mayUse: mayUse)
    case (.failOffline, _): throw .notCached(request.address)
    case (.use, nil), (.useAndRevalidate, nil), (.revalidate, nil), (.fetch, _),
      (.failAsAbsent, _):
      let response = try await response(to: request, mode, asking: nil)
      return take(response, to: request, replacing: stored != nil)
    }
  }

  /// Asks the server whether `stored` is still right.
  private func page(
    _ request: PageRequest, _ mode: CacheMode, knowing stored: StoredPage, mayUse: Bool
  ) async throws(PosterError) -> PageResponse {
    let response: FetchResponse
    do throws(PosterError) {
      response = try await self.response(to: request, mode, asking: stored.metadata)
    } catch {
      guard mayUse, error.isFailureToAsk else { throw error }
      tiers.warnings.warn(error)
      return PageResponse(status: 200, body: stored.body, source: .stale)
    }
    guard response.status == 304 else {
      let isInTrouble = response.status >= 500 || response.status == 429
      guard mayUse, isInTrouble else { return take(response, to: request, replacing: true) }
      tiers.warnings.warn(
        PosterError(
          .status(response.status),
          "the list's server answered \(response.status), its page of"
            + " \(stored.metadata.storedAt.formatted(.iso8601)) is used: \(request.address)"))
      return PageResponse(status: 200, body: stored.body, source: .stale)
    }
    guard stored.metadata.isConfirmed(by: response.headers) else {
      // Another one than was asked about: only the page itself will do.
      let whole = try await self.response(to: request, .refresh, asking: nil)
      return take(whole, to: request, replacing: true)
    }
    if response.headers.cacheControl == nil || isKept(response, asked: request.credential) {
      tiers.disk?.notePage(
        StoredPage(metadata: metadata(of: response, stored.metadata), body: stored.body))
    } else {
      tiers.disk?.dropPage(at: request.address)
    }
    return PageResponse(status: 200, body: stored.body, source: .revalidated)
  }

  private func response(
    to request: PageRequest, _ mode: CacheMode, asking page: PageMetadata?
  ) async throws(PosterError) -> FetchResponse {
    var fetch = FetchRequest(
      request.address, priority: request.priority, kind: .page(request.credential))
    fetch.isRefresh = mode == .refresh
    if let page, page.etag != nil || page.lastModified != nil {
      fetch.pageValidators = .init(etag: page.etag, lastModified: page.lastModified)
    }
    return try await fetcher.response(to: fetch)
  }

  // MARK: - Keeping

  private func storedPage(for request: PageRequest) -> StoredPage? {
    do throws(PosterError) {
      guard let page = try tiers.disk?.page(at: request.address) else { return nil }
      // It was chosen for somebody without a credential.
      return request.credential != nil && Self.isChosenByCredential(page.metadata.variant)
        ? nil : page
    } catch {
      // A tier that fails is a miss: the server still has the page.
      tiers.warnings.warn(error)
      return nil
    }
  }

  /// Keeps what a server has sent, if it may be kept. If it may not, an earlier page that was kept is not
  /// right any more, either; what is no list leaves that alone.
  private func take(
    _ response: FetchResponse, to request: PageRequest, replacing isKeptAlready: Bool
  ) -> PageResponse {
    if response.status == 200, isList(response) {
      if isKept(response, asked: request.credential) {
        tiers.disk?.notePage(
          StoredPage(
            metadata: metadata(of: response, PageMetadata(response, at: request.address)),
            body: response.body))
      } else if isKeptAlready {
        tiers.disk?.dropPage(at: request.address)
      }
    }
    return PageResponse(status: response.status, body: response.body)
  }

  /// Whether the server allows keeping its answer where it is found without the credential.
  private func isKept(_ response: FetchResponse, asked credential: Credential?) -> Bool {
    guard freshness(of: response).isStorable else { return false }
    guard credential != nil else { return true }
    let variant = tiers.policy.fields.variant(vary: response.headers.vary)
    let directives = CacheDirectives(response.headers.cacheControl ?? "")
    return directives.allowsOthers && !directives.isPrivate
      && !Self.isChosenByCredential(variant)
  }

  /// Whether a server that says so has another page for every credential.
  private static func isChosenByCredential(_ variant: Variant?) -> Bool {
    let fields = variant?.fields.split(separator: ",") ?? []
    return fields.contains { ["authorization", "cookie", "*"].contains($0) }
  }

  /// Whether an answer is a list as far as can be seen without reading it: a page that came half, or a
  /// sign-in page that stands in its place, must not be what the next run reads.
  private func isList(_ response: FetchResponse) -> Bool {
    let isText = response.headers.contentType?.lowercased().hasPrefix("text/plain") ?? false
    return isText
      || response.body.withUnsafeBytes { bytes in
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard let first = bytes.first(where: { !isSpace($0) }),
          let last = bytes.last(where: { !isSpace($0) })
        else { return false }
        return first == UInt8(ascii: "{") && last == UInt8(ascii: "}")
          || first == UInt8(ascii: "[") && last == UInt8(ascii: "]")
      }
  }

  /// `page` with what `response` says about its freshness.
  private func metadata(of response: FetchResponse, _ page: PageMetadata) -> PageMetadata {
    let now = tiers.clock.now()
    let freshness = freshness(of: response)
    return PageMetadata(
      address: page.address, etag: response.headers.etag ?? page.etag,
      lastModified: response.headers.lastModified ?? page.lastModified, storedAt: now,
      expiresAt: freshness.expiresAt, staleUse: freshness.staleUse,
      variant: response.headers.vary == nil
        ? page.variant : tiers.policy.fields.variant(vary: response.headers.vary))
  }

  /// By its headers alone: a list changes when it likes, so that nothing is guessed.
  private func freshness(of response: FetchResponse) -> Freshness {
    let now = tiers.clock.now()
    var rules = tiers.rules
    rules.defaultLifetimeSeconds = 0
    rules.errorGraceSeconds = 0
    return Freshness(
      response.headers, receivedAt: now,
      delaySeconds: response.requestedAt.map { now.timeIntervalSince($0) } ?? 0, rules: rules)
  }
}

extension PageMetadata {
  /// What is known of a page that has just come, but for its freshness.
  fileprivate init(_ response: FetchResponse, at address: PosterAddress) {
    self.init(
      address: address, etag: response.headers.etag, lastModified: response.headers.lastModified,
      storedAt: .distantPast, expiresAt: .distantPast)
  }

  /// Whether a 304 with `headers` is about this page (RFC 9111, section 4.3.4).
  fileprivate func isConfirmed(by headers: ResponseHeaders) -> Bool {
    func opaque(_ tag: String) -> Substring {
      tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }
    guard let own = etag, let confirmed = headers.etag else { return true }
    return opaque(own) == opaque(confirmed)
  }
}
