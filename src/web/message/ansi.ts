import { safeText } from '#render'

/** A piece of terminal output in one style. */
export interface AnsiRun {
  readonly text: string
  /** Names out of `ANSI_CLASSES`, with a space between two; empty for plain text. */
  readonly className: string
}

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const
type Colour = (typeof COLOURS)[number]

const STYLES = ['bold', 'dim', 'italic', 'underline', 'inverse', 'strike'] as const
type Style = (typeof STYLES)[number]

/** Every class that terminal output can have. */
export const ANSI_CLASSES: readonly string[] = [
  ...COLOURS.flatMap((colour) => [`ansi-${colour}`, `ansi-on-${colour}`]),
  ...STYLES.map((style) => `ansi-${style}`),
]

interface Pen {
  ink: Colour | undefined
  paper: Colour | undefined
  readonly styles: Set<Style>
}

// oxlint-disable no-control-regex
/** Everything a terminal would obey: control sequences, titles and links, device strings, and lone escapes. */
const SEQUENCES =
  /\u001b\[([0-?]{0,256})[ -/]{0,16}([@-~])|\u001b\][^\u0007\u001b\u009c\n]{0,4096}(?:\u0007|\u001b\\|\u009c)|\u001b[PX^_][^\u001b\u009c]{0,4096}(?:\u001b\\|\u009c)|\u001b[ -/]{0,4}[0-~]/g
// oxlint-enable no-control-regex

/**
 * Reads the colours of terminal output. Colours become the nearest of eight, which are legible on light and dark;
 * every other sequence is dropped, hidden text is shown, and no character is lost. Never throws.
 */
export function parseAnsi(text: string): readonly AnsiRun[] {
  const out: { text: string; className: string }[] = []
  const pen: Pen = { ink: undefined, paper: undefined, styles: new Set() }
  const source = text.replace(/\r+\n/g, '\n')
  let last = 0
  const write = (end: number): void => {
    if (end <= last) return
    const piece = safeText(source.slice(last, end))
    const className = classOf(pen)
    const before = out.at(-1)
    if (before?.className === className) before.text += piece
    else out.push({ text: piece, className })
  }
  for (const found of source.matchAll(SEQUENCES)) {
    write(found.index)
    last = found.index + found[0].length
    if (found[2] === 'm') obey(pen, found[1] ?? '')
  }
  write(source.length)
  return out
}

function classOf({ ink, paper, styles }: Pen): string {
  const names: string[] = []
  if (ink !== undefined) names.push(`ansi-${ink}`)
  if (paper !== undefined) names.push(`ansi-on-${paper}`)
  for (const style of STYLES) if (styles.has(style)) names.push(`ansi-${style}`)
  return names.join(' ')
}

function obey(pen: Pen, parameters: string): void {
  const codes: (readonly number[])[] = parameters
    .split(';')
    .map((group) => group.split(':').map((part) => (part === '' ? 0 : Number(part))))
  while (codes.length > 0) {
    const group = codes.shift() ?? []
    const code = group[0] ?? 0
    if (code === 38 || code === 48 || code === 58) {
      const colour = group.length > 1 ? colourOfGroup(group) : takeColour(codes)
      if (code === 38) pen.ink = colour
      else if (code === 48) pen.paper = colour
    } else obeyCode(pen, code)
  }
}

const SWITCHES: Readonly<Record<number, Style>> = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'underline',
  7: 'inverse',
  9: 'strike',
  21: 'underline',
}

const OFF: Readonly<Record<number, readonly Style[]>> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  29: ['strike'],
}

function obeyCode(pen: Pen, code: number): void {
  if (code === 0) {
    pen.ink = undefined
    pen.paper = undefined
    pen.styles.clear()
  }
  const on = SWITCHES[code]
  if (on !== undefined) pen.styles.add(on)
  for (const style of OFF[code] ?? []) pen.styles.delete(style)
  if (code === 39) pen.ink = undefined
  else if (code === 49) pen.paper = undefined
  else if (code >= 30 && code <= 37) pen.ink = COLOURS[code - 30]
  else if (code >= 90 && code <= 97) pen.ink = bright(code - 90)
  else if (code >= 40 && code <= 47) pen.paper = COLOURS[code - 40]
  else if (code >= 100 && code <= 107) pen.paper = bright(code - 100)
}

/** Bright colours are the colours; bright black is what terminals show grey. */
function bright(index: number): Colour | undefined {
  return COLOURS[index]
}

/** `38:5:n`, `38:2:r:g:b`, `38:2:space:r:g:b`. */
function colourOfGroup(group: readonly number[]): Colour | undefined {
  if (group[1] === 5) return colourOfIndex(group[2])
  return group[1] === 2 ? nearestColour(group.slice(group.length > 5 ? 3 : 2)) : undefined
}

/** `38;5;n`, `38;2;r;g;b`: what belongs to the colour is taken off the codes. */
function takeColour(codes: (readonly number[])[]): Colour | undefined {
  const kind = codes.shift()?.[0]
  if (kind === 5) return colourOfIndex(codes.shift()?.[0])
  return kind === 2 ? nearestColour(codes.splice(0, 3).map((group) => group[0] ?? 0)) : undefined
}

/** One of the 256: sixteen names, a cube of six by six by six, and 24 greys. */
function colourOfIndex(index: number | undefined): Colour | undefined {
  if (index === undefined || !(index >= 0 && index <= 255)) return undefined
  if (index < 16) return COLOURS[index % 8]
  if (index >= 232) return nearestColour(Array.from({ length: 3 }, () => 8 + (index - 232) * 10))
  const cube = index - 16
  return nearestColour([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((step) => step * 51))
}

/** By hue; what has none is black, or white. */
function nearestColour(rgb: readonly number[]): Colour | undefined {
  const [red = Number.NaN, green = Number.NaN, blue = Number.NaN] = rgb
  const most = Math.max(red, green, blue)
  const least = Math.min(red, green, blue)
  if (!(least >= 0 && most <= 255)) return undefined
  const spread = most - least
  if (spread < 32) return most < 160 ? 'black' : 'white'
  const sector =
    most === red
      ? ((green - blue) / spread + 6) % 6
      : most === green
        ? (blue - red) / spread + 2
        : (red - green) / spread + 4
  const hues = ['red', 'yellow', 'green', 'cyan', 'blue', 'magenta'] as const
  return hues[Math.round(sector) % 6]
}
