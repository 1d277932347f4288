import type { Random } from './corpus-random.ts'

/**
 * What people, models and tools write. Pools are made once from the seed and passages are cut out of them,
 * so a gigabyte of text costs little more than writing it.
 */
export interface Texts {
  /** English, ASCII only. */
  prose(random: Random, chars: number): string
  /** Accents, CJK, emoji, right-to-left, and the line separators that JSON allows inside a string. */
  rich(random: Random, chars: number): string
  code(random: Random, chars: number): string
  /** What a shell prints. */
  output(random: Random, chars: number): string
  base64(random: Random, chars: number): string
}

export function createTexts(random: Random): Texts {
  const prose = pool(192 * 1024, () => paragraph(random))
  const rich = pool(48 * 1024, () => `${random.pick(RICH)} ${sentence(random)} `)
  const code = pool(192 * 1024, () => codeLine(random))
  const output = pool(512 * 1024, () => outputLine(random))
  const base64 = pool(1_600_000, () => random.token(4096))
  return {
    prose: (by, chars) => passage(prose, by, chars),
    rich: (by, chars) => passage(rich, by, chars),
    code: (by, chars) => passage(code, by, chars),
    output: (by, chars) => passage(output, by, chars),
    base64(by, chars) {
      const whole = chars - (chars % 4)
      const start = by.int(0, Math.max(0, base64.length - whole - 4))
      let text = base64.slice(start, start + whole)
      while (text.length < whole) text += base64.slice(0, whole - text.length)
      return text
    },
  }
}

function pool(chars: number, make: () => string): string {
  const parts: string[] = []
  for (let length = 0; length < chars;) {
    const part = make()
    parts.push(part)
    length += part.length
  }
  return parts.join('')
}

/** About `chars` long, from one space to another: no word and no surrogate pair is cut. */
function passage(source: string, random: Random, chars: number): string {
  const parts: string[] = []
  let missing = Math.max(1, Math.round(chars))
  while (missing > 0) {
    const take = Math.min(missing, source.length >> 1)
    const start = source.indexOf(' ', random.int(0, source.length - take - 2048)) + 1
    const end = source.indexOf(' ', start + take)
    parts.push(source.slice(start, end === -1 ? source.length : end))
    missing -= take
  }
  return parts.length === 1 ? (parts[0] ?? '') : parts.join(' ')
}

function paragraph(random: Random): string {
  const sentences = Array.from({ length: random.int(1, 5) }, () => sentence(random)).join(' ')
  const shape = random.next()
  if (shape < 0.12) return `\n\n## ${sentence(random)}\n\n`
  if (shape < 0.35) return `- **${random.pick(WORDS)}**: ${sentences}\n`
  if (shape < 0.45) return `\n\`\`\`ts\n${codeLine(random)}${codeLine(random)}\`\`\`\n`
  return `${sentences}\n\n`
}

function sentence(random: Random): string {
  const words = Array.from({ length: random.int(5, 18) }, () =>
    random.chance(0.06) ? `\`${identifier(random)}\`` : random.pick(WORDS),
  )
  const text = words.join(' ')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${random.pick(['.', '.', '.', '?', ':'])}`
}

function identifier(random: Random): string {
  const second = random.pick(WORDS)
  return `${random.pick(WORDS)}${second.charAt(0).toUpperCase()}${second.slice(1)}`
}

function codeLine(random: Random): string {
  const name = identifier(random)
  const other = identifier(random)
  switch (random.int(0, 7)) {
    case 0:
      return `export function ${name}(${other}: string, limit = ${random.int(1, 500)}): number {\n`
    case 1:
      return `  const ${name} = ${other}.map((item) => item.${random.pick(WORDS)} ?? "${random.pick(WORDS)}")\n`
    case 2:
      return `\tif (${name} !== null && ${other} > ${random.int(0, 99)}) { return "C:\\\\${name}\\\\${other}" }\n`
    case 3:
      return `  // ${sentence(random)}\n`
    case 4:
      return `    expect(await ${name}({ ${other}: /^\\s*${random.pick(WORDS)}\\b/u })).toEqual([${random.int(0, 9)}])\n`
    case 5:
      return `import { ${name}, type ${other} } from './${random.pick(WORDS)}-${random.pick(WORDS)}.ts'\n`
    case 6:
      return `  for (const [key, value] of Object.entries(${name})) total += value * ${random.next().toFixed(3)}\n`
    default:
      return `}\n\n`
  }
}

function outputLine(random: Random): string {
  const path = `src/${random.pick(WORDS)}/${random.pick(WORDS)}-${random.pick(WORDS)}.ts`
  switch (random.int(0, 6)) {
    case 0:
      return `${path}:${random.int(1, 900)}:${codeLine(random)}`
    case 1:
      return `-rw-r--r-- 1 user user ${random.int(10, 999999)} Nov ${random.int(1, 28)} ${random.int(10, 23)}:${random.int(10, 59)} ${path}\n`
    case 2:
      return ` \u001b[32m✓\u001b[39m ${path} (${random.int(1, 80)} tests) ${random.int(1, 900)}ms\n`
    case 3:
      return `[${random.int(10, 23)}:${random.int(10, 59)}:${random.int(10, 59)}] INFO  ${sentence(random)} id=${random.hex(16)}\n`
    case 4:
      return `+ ${codeLine(random)}- ${codeLine(random)}`
    case 5:
      return `{"level":"warn","file":"${path}","took":${random.next().toFixed(5)},"msg":"${random.pick(WORDS)} ${random.pick(WORDS)}"}\n`
    default:
      return `${random.hex(40)} ${path}\n`
  }
}

const RICH: readonly string[] = [
  '日本語の説明: この関数は並べ替えを行います。',
  '请把日志按时间排序，然后再检查一次。',
  '세션을 다시 열고 결과를 확인해 주세요.',
  'Überprüfe bitte die größten Dateien – und zwar „alle“.',
  'Vérifie l’état après le déploiement… ça échoue à l’étape № 3.',
  'Готово ✅ тесты прошли 🎉👩🏽‍💻',
  'اكتب الاختبار أولاً ثم الشيفرة.',
  'naïve café ☕️ → résumé ½ µs ±3 °C',
  'line separator \u2028 and paragraph separator \u2029 inside',
  '𝒜 mathematical 𝔘nicode 🇪🇺 and a family 👨‍👩‍👧‍👦',
]

const WORDS: readonly string[] = (
  'a about after again agent all also and any append archive are at attention back be because before below block branch ' +
  'buffer build by cache call can catch chain change check child claim clean client clock close code command commit ' +
  'compare config context could count cursor daemon data deadline default delete delta depend detail device differ ' +
  'directory disk document does down durable each early empty end entry error event every exact expect export fail ' +
  'fallback fast field file filter final find first flag flush follow for fork from full function gate generic get ' +
  'guard handle has hash head header helper here hint history hold hook host how if ignore import in index inline ' +
  'input inside instead into invariant is it item join journal keep kernel key kind know last later latency layer lean ' +
  'leave length less let level limit line link list load local lock log long look loop loss make many map mark marker ' +
  'match may memory merge message mode model module more most move must name need never new next no node normal not ' +
  'notice now null number object of off offset old on once one only open option or order other our out output over ' +
  'own page parent parse part path pattern peak pending permission person plan point pool port present process ' +
  'project promise prompt proof property provider pure query queue quiet range raw reach read ready real reason ' +
  'receipt record recover reduce refuse release render repeat replay reply report request resolve restart result ' +
  'resume retry return review rewind room root route row rule run safe same save scan schema scope scratch search ' +
  'second section seed select send sequence server session settle shape shared should show side signal silent simple ' +
  'since single size skip slow small snapshot so some sort source space split stable stage start state step still stop ' +
  'store stream strict string structure subagent suite sum sure symbol sync system table tag tail take target task ' +
  'team tell temp test text than that the then there thing this thread through throw time timeout title to token tool ' +
  'torn total trace track transcript tree true trust try turn type under union unknown until update usage use user ' +
  'valid value verify version view visible wait wake walk want warn was watch way well when where which while who why ' +
  'will window wire with without word work worker would wrap write wrong you zero'
).split(' ')
