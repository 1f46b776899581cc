extension DecodingLimits {
  /// Throws if a limit is no positive number.
  func validate() throws(PosterError) {
    guard maximumPixels > 0, maximumJPEGScans > 0, maximumMemory.bytes > 0 else {
      throw PosterError(.invalidConfiguration, "limits of decoding must be greater than 0")
    }
  }

  /// The size that a header states, if it may be decoded.
  func checkedSize(width: Int, height: Int) throws(PosterError) -> PixelSize {
    guard width > 0, height > 0 else {
      throw PosterError(.damagedImage, "the picture is damaged: it is \(width)x\(height) pixels")
    }
    guard
      width <= PixelSize.maximumSide, height <= PixelSize.maximumSide,
      width * height <= maximumPixels
    else {
      throw PosterError(
        .imageTooLarge,
        "the picture is too large: \(width)x\(height) pixels, where \(maximumPixels) are allowed")
    }
    return PixelSize(width: width, height: height)
  }

  /// Throws if a picture that is read as `plan` says, and shrunk to `target`, takes more than
  /// ``maximumMemory``.
  ///
  /// - Parameter isTurned: whether the result is copied once more to turn it upright.
  func check(_ plan: ReadingPlan, target: PixelSize, isTurned: Bool) throws(PosterError) {
    // The target of an enlargement may be anything: its bytes could overflow. No machine has 2^56.
    let allowed = min(maximumMemory.bytes, 1 << 56)
    var needed = Int.max
    if target.pixels <= allowed / 4 {
      needed = plan.codecBytes + target.pixels * 4 * (isTurned ? 2 : 1)
      if plan.size != target {
        needed += plan.comesWhole ? plan.size.pixels * 4 : plan.size.width * 4 * RowStrip.height
        let (sum, overflow) = needed.addingReportingOverflow(
          Resampler.workingBytes(from: plan.size, to: target))
        needed = overflow ? .max : sum
      }
    }
    guard needed <= allowed else {
      throw PosterError(
        .imageTooLarge,
        "the picture is too large: decoding it would take more than \(maximumMemory)")
    }
  }
}
