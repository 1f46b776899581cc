import FoundationEssentials

/// What is kept of what a server says. Called on the fetch thread.
extension PosterTiers {
  /// Keeps a picture that came when nobody wanted it any more, as if it had been warmed.
  func takeUnclaimed(_ response: FetchResponse, of request: FetchRequest) {
    guard request.kind == .picture else { return }
    let poster = PosterRequest(
      request.address, key: request.key, priority: .background, source: request.source)
    // What its storing comes to is told as a warning, if at all.
    _ = take(.success(response), for: poster)
  }

  /// Puts what has just been received into the tiers, once for all requests that its transfer served.
  /// Called for those requests one right after the other.
  ///
  /// - Returns: `nil` for the confirmation of another picture than was asked about.
  func take(
    _ result: Result<FetchResponse, PosterError>, for request: PosterRequest
  ) -> Result<Arrival?, PosterError> {
    switch result {
    case .success(let response):
      let (receipt, isNew) = response.keepsake.value {
        Receipt(
          arrival: Arrival(
            of: response, for: request, at: clock.now(), rules: rules, fields: policy.fields))
      }
      if let arrival = receipt.arrival {
        keep(arrival, isNew: isNew, for: request)
        lookups.responseDidArrive(response, for: request.key)
      }
      return .success(receipt.arrival)
    case .failure(let error):
      noteAbsence(error, of: request)
      return .failure(error)
    }
  }

  /// What the receivers of one response share.
  private struct Receipt: Sendable {
    let arrival: Arrival?
  }

  private func keep(_ arrival: Arrival, isNew: Bool, for request: PosterRequest) {
    let isSeen = request.priority == .visible
    if arrival.isStorable {
      if request.priority > .background || diskTier == nil {
        memory.insert(arrival.poster, isSeen: isSeen)
      } else {
        memory.replace(arrival.poster)
      }
    }
    guard isNew else {
      if isSeen { disk?.noteUse(of: request, isSeen: true) }
      return
    }
    absences.forget(request.key)
    if arrival.isStorable { images.posterIsNow(arrival.poster, hasArrived: true) }
    guard arrival.isStorable else {
      // What was stored before is not what the server has now, or it must not be kept any more.
      drop(request)
      forgetAbsence(of: request)
      let refusal = PosterError(.notStored, "the server forbids storing \(request.address)")
      return arrival.storingDidFinish(.failure(refusal))
    }
    guard let diskTier else { return arrival.storingDidFinish(.success(())) }
    let completion: DiskTier.Completion = { [warnings] result in
      if case .failure(let error) = result { warnings.warn(error) }
      arrival.storingDidFinish(result)
    }
    if let confirmed = arrival.confirmed, let disk, disk.hasEntry(for: request) {
      diskTier.confirm(confirmed, as: arrival.poster.metadata, completion: completion)
      if isSeen { disk.noteUse(of: request, isSeen: true) }
    } else {
      diskTier.insert(arrival.poster, isSeen: isSeen, completion: completion)
    }
  }

  // MARK: - Absence

  /// Remembers that the server has no such picture, if that is what `error` says. What is stored was
  /// superseded by that answer (RFC 9111, section 4.3.3), and goes.
  private func noteAbsence(_ error: PosterError, of request: PosterRequest) {
    guard case .status(let status) = error.code, status == 404 || status == 410 else { return }
    let seconds = rules.absenceSeconds(status: status, stated: error.statedLifetimeSeconds)
    let now = clock.now()
    if seconds > 0 {
      let absence = Absence(status: status, notedAt: now, until: now.addingTimeInterval(seconds))
      absences.note(absence, of: request)
      diskTier?.noteAbsence(of: request, absence)
    }
    drop(request)
  }

  /// Ends what the disk tier remembers, where no picture will be stored in its place.
  private func forgetAbsence(of request: PosterRequest) {
    guard let absence = absence(of: request) else { return }
    diskTier?.noteAbsence(
      of: request,
      Absence(status: absence.status, notedAt: absence.notedAt, until: absence.notedAt))
  }

  private func drop(_ request: PosterRequest) {
    memory.remove(request.key)
    images.posterIsGone(request.key)
    disk?.drop(request)
  }
}

extension DiskCache {
  /// Whether something is stored for `request`, or about to be.
  fileprivate func hasEntry(for request: PosterRequest) -> Bool {
    writer.unwritten(request.key) != nil || entryRow(for: request) != nil
  }

  /// Drops the poster for `request` unless it is pinned, without waiting for that.
  func drop(_ request: PosterRequest) {
    guard !ForkGuard.isInChild, hasEntry(for: request),
      entryRow(for: request)?.isPinned != true
    else { return }
    // Refused once the cache is closed: then it is dropped when its server is asked again.
    _ = writer.perform(.edit(.remove([request.key]), { _ in }))
  }

  /// Drops the record of `poster`, whose picture was found damaged, unless it is pinned; another version
  /// that has been stored since stays.
  func dropDamaged(_ poster: StoredPoster) {
    let request = PosterRequest(poster.metadata.address, key: poster.key, priority: .background)
    // What is on its way to the disk has no record yet, and was read a moment ago.
    guard let sequence = poster.sequence else { return drop(request) }
    guard !ForkGuard.isInChild, entryRow(for: request)?.isPinned != true else { return }
    writer.drop(poster.key, sequence: sequence)
  }

  private func entryRow(for request: PosterRequest) -> EntryRow? {
    // An index that cannot be read is told by those who look for a picture.
    try? index.read { rows throws(PosterError) in try rows.entry(request.key) }
  }
}

extension Poster {
  /// What has just arrived.
  init(_ arrival: Arrival) {
    self.init(
      arrival.poster, from: arrival.confirmed == nil ? .network : .revalidated,
      isStorable: arrival.isStorable)
  }
}

extension PosterError {
  /// Whether the server could not be asked, or is in trouble: an expired picture is better than none
  /// (RFC 9111, sections 4.2.4 and 4.3.3; RFC 5861, section 4).
  var isFailureToAsk: Bool {
    switch code {
    case .network, .timedOut, .incompleteBody, .untrustedCertificate, .resourcesExhausted: true
    case .status(let status): status == 408 || status == 429 || (500...599).contains(status)
    default: false
    }
  }
}
