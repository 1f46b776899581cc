/// What a poster shows: a landscape of simple shapes, a title, and how grainy it all is. Everything
/// follows from the poster's name.
struct PosterScene {
  private typealias Point = PosterCanvas.Point

  private var random: SeededRandom
  private let caption: String
  private let frame: PictureFrame
  private let hue: Double
  private let isNight: Bool

  /// - Parameters:
  ///   - stem: the poster's name without its extension.
  ///   - caption: what is written on it.
  ///   - frame: the piece that is shown, in which the title has its place.
  init(stem: String, caption: String, frame: PictureFrame) {
    random = SeededRandom("scene " + stem)
    self.caption = caption
    self.frame = frame
    hue = random.number(in: 0...1)
    isNight = random.below(2) == 0
  }

  /// Draws sky, scenery and title, without grain.
  mutating func draw(on canvas: borrowing PosterCanvas) {
    canvas.fillGradient([
      PosterInk(hue: hue, saturation: 0.7, value: isNight ? 0.12 : 0.45),
      PosterInk(hue: hue + 0.06, saturation: 0.6, value: isNight ? 0.30 : 0.75),
      PosterInk(hue: hue + 0.14, saturation: 0.5, value: isNight ? 0.55 : 0.98),
    ])
    if isNight { drawStars(on: canvas) }
    switch random.below(6) {
    case 0: drawMountains(on: canvas)
    case 1: drawCity(on: canvas)
    case 2: drawSea(on: canvas)
    case 3: drawForest(on: canvas)
    case 4: drawPlanet(on: canvas)
    default: drawTraveller(on: canvas)
    }
    drawTitle(on: canvas)
  }

  // MARK: Scenery

  private mutating func drawStars(on canvas: borrowing PosterCanvas) {
    let ink = PosterInk(hue: hue, saturation: 0.1, value: 0.9)
    for _ in 0..<60 {
      let place = Point(x: random.number(in: 0...1), y: random.number(in: 0...0.9))
      let side = random.number(in: 0.002...0.007)
      canvas.fillRectangle(at: place, width: side, height: side, with: ink)
    }
  }

  /// A sun or a moon with rings of haze.
  private mutating func drawDisc(
    on canvas: borrowing PosterCanvas, heights: ClosedRange<Double>
  ) -> PosterCanvas.Point {
    let center = Point(x: random.number(in: 0.25...0.75), y: random.number(in: heights))
    let radius = random.number(in: 0.09...0.2)
    for ring in 0..<4 {
      canvas.fillDisc(
        around: center, radius: radius * (1.6 - Double(ring) * 0.2),
        with: PosterInk(
          hue: hue + 0.12, saturation: 0.45 - Double(ring) * 0.08,
          value: (isNight ? 0.4 : 0.8) + Double(ring) * (isNight ? 0.16 : 0.06)))
    }
    return center
  }

  private mutating func drawMountains(on canvas: borrowing PosterCanvas) {
    _ = drawDisc(on: canvas, heights: 0.3...0.65)
    for layer in 0..<4 {
      let base = 0.7 + Double(layer) * 0.17
      var ridge = [Point(x: 0, y: 1.5)]
      var x = -0.05
      while x < 1.1 {
        ridge.append(Point(x: x, y: base + random.number(in: -0.12...0.1)))
        x += random.number(in: 0.05...0.14)
      }
      ridge.append(Point(x: 1.1, y: 1.5))
      canvas.fillPolygon(ridge, with: shade(ofLayer: layer))
    }
  }

  private mutating func drawCity(on canvas: borrowing PosterCanvas) {
    _ = drawDisc(on: canvas, heights: 0.25...0.6)
    let light = PosterInk(hue: 0.13, saturation: 0.5, value: 0.95)
    for layer in 1..<4 {
      var x = random.number(in: -0.1...0)
      while x < 1 {
        let width = random.number(in: 0.07...0.16)
        let top = 0.55 + Double(layer) * 0.13 + random.number(in: -0.1...0.18)
        canvas.fillRectangle(
          at: Point(x: x, y: top), width: width, height: 1.5 - top, with: shade(ofLayer: layer))
        for row in 0..<14 where layer > 1 {
          for column in 0..<3 where random.below(4) == 0 {
            canvas.fillRectangle(
              at: Point(
                x: x + width * (0.16 + Double(column) * 0.26), y: top + 0.03 + Double(row) * 0.035),
              width: width * 0.15, height: 0.016, with: light)
          }
        }
        x += width + random.number(in: 0...0.02)
      }
    }
  }

  private mutating func drawSea(on canvas: borrowing PosterCanvas) {
    let sun = drawDisc(on: canvas, heights: 0.6...0.8)
    canvas.fillRectangle(
      at: Point(x: 0, y: 0.85), width: 1, height: 0.65, with: shade(ofLayer: 2))
    let glitter = PosterInk(hue: hue + 0.12, saturation: 0.35, value: 0.9)
    for wave in 0..<26 {
      let half = random.number(in: 0.02...0.16)
      canvas.fillRectangle(
        at: Point(
          x: sun.x - half + random.number(in: -0.06...0.06), y: 0.87 + Double(wave) * 0.023),
        width: half * 2, height: 0.006, with: glitter)
    }
    let bow = Point(x: random.number(in: 0.1...0.7), y: random.number(in: 0.92...1.05))
    let hull = shade(ofLayer: 4)
    canvas.fillPolygon(
      [
        bow, Point(x: bow.x + 0.26, y: bow.y), Point(x: bow.x + 0.21, y: bow.y + 0.05),
        Point(x: bow.x + 0.05, y: bow.y + 0.05),
      ], with: hull)
    canvas.fillPolygon(
      [
        Point(x: bow.x + 0.12, y: bow.y - 0.3), Point(x: bow.x + 0.23, y: bow.y - 0.02),
        Point(x: bow.x + 0.12, y: bow.y - 0.02),
      ], with: hull)
  }

  private mutating func drawForest(on canvas: borrowing PosterCanvas) {
    _ = drawDisc(on: canvas, heights: 0.25...0.5)
    for layer in 0..<4 {
      let ink = shade(ofLayer: layer)
      let ground = 0.85 + Double(layer) * 0.15
      canvas.fillRectangle(at: Point(x: 0, y: ground), width: 1, height: 1, with: ink)
      for _ in 0..<(22 - layer * 4) {
        let x = random.number(in: -0.05...1.05)
        let height = random.number(in: 0.15...0.32) * (1 + Double(layer) * 0.25)
        for part in 0..<3 {
          let top = ground + 0.02 - height + Double(part) * height * 0.24
          let half = height * (0.12 + Double(part) * 0.05)
          canvas.fillPolygon(
            [
              Point(x: x, y: top), Point(x: x + half, y: top + height * 0.52),
              Point(x: x - half, y: top + height * 0.52),
            ], with: ink)
        }
      }
    }
  }

  private mutating func drawPlanet(on canvas: borrowing PosterCanvas) {
    let center = Point(x: random.number(in: 0.3...0.7), y: random.number(in: 0.5...0.8))
    let radius = random.number(in: 0.22...0.36)
    let bands = 9
    for band in 0..<bands {
      // Ever smaller discs towards one side: a ball lit from there.
      let share = Double(band) / Double(bands)
      canvas.fillDisc(
        around: Point(x: center.x + radius * share * 0.35, y: center.y - radius * share * 0.35),
        radius: radius * (1 - share * 0.8),
        with: PosterInk(hue: hue + 0.4 + share * 0.08, saturation: 0.6, value: 0.25 + share * 0.65))
    }
    let tilt = random.number(in: -0.35...0.35)
    let ring = PosterInk(hue: hue + 0.1, saturation: 0.3, value: 0.85)
    for gap in 0..<3 {
      let reach = radius * (1.5 + Double(gap) * 0.14)
      canvas.fillPolygon(
        [
          Point(x: center.x - reach, y: center.y + reach * tilt),
          Point(x: center.x, y: center.y + 0.02 + Double(gap) * 0.03),
          Point(x: center.x + reach, y: center.y - reach * tilt),
          Point(x: center.x, y: center.y + 0.03 + Double(gap) * 0.03),
        ], with: ring)
    }
  }

  /// Rays behind somebody who stands on a hill.
  private mutating func drawTraveller(on canvas: borrowing PosterCanvas) {
    let center = Point(x: random.number(in: 0.35...0.65), y: random.number(in: 0.5...0.7))
    let ray = PosterInk(hue: hue + 0.12, saturation: 0.4, value: isNight ? 0.5 : 0.92)
    let count = 7 + random.below(5)
    for index in 0..<count {
      let left = -1.2 + Double(index) / Double(count) * 3.4
      canvas.fillPolygon(
        [center, Point(x: left, y: -0.2), Point(x: left + 0.14, y: -0.2)], with: ray)
    }
    canvas.fillDisc(
      around: center, radius: random.number(in: 0.12...0.2),
      with: PosterInk(hue: hue + 0.5, saturation: 0.5, value: 0.9))
    let ground = shade(ofLayer: 4)
    canvas.fillDisc(around: Point(x: center.x, y: 1.9), radius: 0.85, with: ground)
    canvas.fillDisc(around: Point(x: center.x, y: 0.76), radius: 0.035, with: ground)
    canvas.fillPolygon(
      [
        Point(x: center.x - 0.03, y: 0.79), Point(x: center.x + 0.03, y: 0.79),
        Point(x: center.x + 0.075, y: 1.08), Point(x: center.x - 0.075, y: 1.08),
      ], with: ground)
  }

  /// Scenery gets darker the nearer it is.
  private func shade(ofLayer layer: Int) -> PosterInk {
    PosterInk(
      hue: hue + 0.02 * Double(layer), saturation: 0.55,
      value: (isNight ? 0.36 : 0.62) * (1 - Double(layer) * 0.21))
  }

  // MARK: Title

  private mutating func drawTitle(on canvas: borrowing PosterCanvas) {
    // Long lines where there is little room for several.
    let lines = wrapped(caption.uppercased(), lineCharacters: frame.depth < 1 ? 26 : 13)
    let longest = lines.map(\.count).max() ?? 1
    let dot = min(0.016, 0.86 / Double(longest * BitmapFont.advance))
    let lineHeight = dot * 10
    let isOnTop = random.below(3) == 0
    let bottom = frame.top + frame.depth - 0.08
    var y = isOnTop ? frame.top + 0.08 : bottom - Double(lines.count) * lineHeight
    let ink = PosterInk(hue: hue + 0.1, saturation: 0.08, value: 1)
    let shadow = PosterInk(hue: hue, saturation: 0.6, value: 0.08)
    for line in lines {
      let x = (1 - Double(line.count * BitmapFont.advance - 1) * dot) / 2
      canvas.write(line, at: Point(x: x + dot / 2, y: y + dot / 2), dot: dot, with: shadow)
      canvas.write(line, at: Point(x: x, y: y), dot: dot, with: ink)
      y += lineHeight
    }
  }

  private func wrapped(_ text: String, lineCharacters: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= lineCharacters {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
