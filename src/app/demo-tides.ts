import {
  agent,
  bash,
  delegate,
  edit,
  failing,
  grep,
  person,
  read,
  todos,
  write,
  type Sample,
} from './demo-beats.ts'

const WORKDIR = '/home/demo/work/tide-table'
const at = (path: string): string => `${WORKDIR}/${path}`

const ADD_DAYS_BEFORE = `export function addDays(date: Date, days: number): Date {
  return new Date(date.getTime() + days * 86_400_000)
}`

const ADD_DAYS_AFTER = `/** The same time of day so many days later, also across a change of the clocks. */
export function addDays(date: Date, days: number): Date {
  const later = new Date(date)
  later.setDate(later.getDate() + days)
  return later
}`

const FAILING_RUN = ` FAIL  test/forecast.test.ts > a forecast covers whole days
AssertionError: expected '2026-10-26' to be '2026-10-27'

 ❯ test/forecast.test.ts:41:28
     39|   const days = forecast(station, new Date('2026-10-25T00:00'), 3)
     40|   expect(days).toHaveLength(3)
     41|   expect(days[2]?.date).toBe('2026-10-27')
       |                         ^
 Test Files  1 failed | 6 passed (7)
      Tests  1 failed | 52 passed (53)`

const PASSING_RUN = ` ✓ test/forecast.test.ts (9 tests) 31ms
 ✓ test/calendar.test.ts (14 tests) 12ms

 Test Files  7 passed (7)
      Tests  55 passed (55)`

const TASKS = [
  'Reproduce the failure',
  'Find what counts the days',
  'Fix it and add a test',
  'Run everything',
]

/** A bug that only shows on two days of the year. */
const BUG_HUNT: Sample = {
  id: 'de300001-5a1e-4c0d-9f00-7ead1e5a0001',
  workdir: WORKDIR,
  gitBranch: 'main',
  model: 'claude-opus-4-5-20251101',
  title: 'Forecast test fails when the clocks change',
  endedMinutesAgo: 34,
  beats: [
    person(
      'CI is red since last night, but only in the job that runs with `TZ=Europe/Berlin`. Can you find out why and fix it properly? Please do not just pin the time zone.',
    ),
    agent({
      says: "I'll run the tests the way that job does, before I look at any code.",
      runs: [
        todos(0, TASKS),
        failing('TZ=Europe/Berlin npx vitest run', 'Run the tests as CI does', FAILING_RUN),
      ],
    }),
    agent({
      thinks:
        'The expected third day is the 27th and we got the 26th. The range begins on 2026-10-25, which is the day the clocks go back in Berlin: that day has 25 hours. If days are added as 24 hours each, the second step lands at 23:00 on the same calendar day. So look for 86_400_000 or 24 * 60.',
      says: 'It fails on the night when the clocks go back, so something counts days as 24 hours each. Looking for that.',
      runs: [
        todos(1, TASKS),
        grep('86_400_000|24 \\* 60', at('src'), [
          'src/calendar.ts:12:  return new Date(date.getTime() + days * 86_400_000)',
          'src/cache.ts:7:const MAX_AGE_MS = 86_400_000',
        ]),
      ],
    }),
    agent({
      runs: [
        read(
          at('src/calendar.ts'),
          `/** Days as people count them. */\n\nexport function startOfDay(date: Date): Date {\n  const start = new Date(date)\n  start.setHours(0, 0, 0, 0)\n  return start\n}\n\n${ADD_DAYS_BEFORE}\n`,
        ),
      ],
    }),
    agent({
      says: 'Found it. `addDays` adds 24 hours, and the 25th of October has 25 of them. `src/cache.ts` really does mean a duration, so that one stays.',
      runs: [todos(2, TASKS), edit(at('src/calendar.ts'), ADD_DAYS_BEFORE, ADD_DAYS_AFTER)],
    }),
    agent({
      says: 'Now a test for both changes of the clocks, so that it fails everywhere and not in one job only.',
      runs: [
        edit(
          at('test/calendar.test.ts'),
          "describe('addDays', () => {",
          "describe('addDays', () => {\n  test.each([\n    ['2026-03-28T12:00', '2026-03-29'],\n    ['2026-10-24T12:00', '2026-10-25'],\n  ])('keeps the time of day across %s', (from, day) => {\n    const later = addDays(new Date(from), 1)\n    expect(toDay(later)).toBe(day)\n    expect(later.getHours()).toBe(12)\n  })\n",
        ),
        failing(
          'TZ=Europe/Berlin npx vitest run',
          'Run the tests again',
          ' FAIL  test/calendar.test.ts\nReferenceError: toDay is not defined\n ❯ test/calendar.test.ts:11:12',
        ),
      ],
    }),
    agent({
      says: 'An import is missing in the test.',
      runs: [
        edit(
          at('test/calendar.test.ts'),
          "import { addDays } from '../src/calendar.ts'",
          "import { addDays, toDay } from '../src/calendar.ts'",
        ),
        bash(
          'for zone in UTC Europe/Berlin America/Santiago; do TZ=$zone npx vitest run; done',
          'Run the tests in three time zones',
          PASSING_RUN,
        ),
        todos(4, TASKS),
      ],
    }),
    agent({
      says: 'Fixed, and green in three time zones.\n\n- **Cause:** `addDays` added 24 hours per day. On 25 October a day has 25 hours in Berlin, so the third day of the forecast was still the second.\n- **Fix:** it now moves the calendar day and keeps the time of day (`src/calendar.ts`).\n- **Test:** both changes of the clocks are covered, so this cannot hide in one CI job again.\n\nI left `src/cache.ts` alone: there 24 hours are meant as a duration.',
    }),
    person('Great. Commit it, please.'),
    agent({
      runs: [
        bash(
          'git commit -qam "calendar: days are counted as days, not as 24 hours" && git log --oneline -1',
          'Commit the fix',
          '4be91f2 calendar: days are counted as days, not as 24 hours',
        ),
      ],
    }),
    agent({ says: 'Committed as `4be91f2`.' }),
  ],
}

const PARSER = `import type { Station } from './station.ts'

export function parseTable(text: string): Station[] {
  const stations: Station[] = []
  for (const line of text.split('\\n')) {
    if (line.startsWith('#')) continue
    const [name = '', lat = '', lon = '', ...heights] = line.split(/\\s{2,}/)
    if (name === '') continue
    stations.push({ name, lat: Number(lat), lon: Number(lon), heights: heights.map(Number) })
  }
  return stations
}
`

/** A refactoring that asks a subagent to look around first. */
const REFACTOR: Sample = {
  id: 'de300002-5a1e-4c0d-9f00-7ead1e5a0002',
  workdir: WORKDIR,
  gitBranch: 'split-parser',
  model: 'claude-sonnet-4-5-20250929',
  title: 'Split the table parser into tokens and grammar',
  endedMinutesAgo: 60 * 27,
  beats: [
    person(
      'The parser for tide tables has grown hairy. Split it into a tokenizer and a grammar, without changing what it accepts.',
    ),
    agent({
      says: 'First I want to know who depends on how it behaves today.',
      runs: [
        delegate({
          agentId: 'a7c41d09be52f3a68',
          agentType: 'Explore',
          description: 'Find uses of the parser',
          prompt:
            'Find every use of parseTable in this repository, and every oddity of its input that tests or callers rely on. Report file and line for each.',
          beats: [
            {
              runs: [
                grep('parseTable', WORKDIR, [
                  'src/import.ts:9:  const stations = parseTable(await readFile(path, "utf8"))',
                  'src/cli.ts:31:    print(parseTable(text))',
                  'test/parse.test.ts:6:import { parseTable } from "../src/parse.ts"',
                ]),
              ],
            },
            {
              runs: [
                read(
                  at('test/parse.test.ts'),
                  "test('skips comments', () => {\n  expect(parseTable('# a\\nCuxhaven  53.87  8.72  1.2')).toHaveLength(1)\n})\n\ntest('a missing height is NaN', () => {\n  expect(parseTable('Husum  54.47  9.05  -')[0]?.heights).toEqual([Number.NaN])\n})",
                ),
                read(
                  at('src/import.ts'),
                  "const stations = parseTable(await readFile(path, 'utf8'))\nfor (const station of stations.filter(({ name }) => !name.startsWith('~'))) await save(station)",
                ),
              ],
            },
            {
              says: 'Three uses, two of them in production code.\n\n1. `src/import.ts:9` relies on names that begin with `~` being kept: it filters them itself.\n2. `src/cli.ts:31` prints whatever comes back.\n3. `test/parse.test.ts` relies on `-` becoming `NaN`, not 0.\n\nNobody relies on the order of stations.',
            },
          ],
        }),
        read(at('src/parse.ts'), PARSER),
      ],
    }),
    agent({
      says: 'Two things have to stay: names that begin with `~` are kept, and `-` becomes `NaN`. I begin with the tokenizer.',
      runs: [
        write(
          at('src/tokens.ts'),
          "/** One row of a table: its cells, and where it stands. */\nexport interface Row {\n  readonly line: number\n  readonly cells: readonly string[]\n}\n\n/** Cells are separated by two or more blanks; comments and empty lines are no rows. */\nexport function* toRows(text: string): Generator<Row> {\n  for (const [at, line] of text.split('\\n').entries()) {\n    if (line.startsWith('#') || line.trim() === '') continue\n    yield { line: at + 1, cells: line.trim().split(/\\s{2,}/) }\n  }\n}\n",
        ),
        write(
          at('src/parse.ts'),
          "import type { Station } from './station.ts'\nimport { toRows, type Row } from './tokens.ts'\n\nexport function parseTable(text: string): Station[] {\n  return [...toRows(text)].map(toStation)\n}\n\nfunction toStation({ cells }: Row): Station {\n  const [name = '', lat = '', lon = '', ...heights] = cells\n  return { name, lat: Number(lat), lon: Number(lon), heights: heights.map(Number) }\n}\n",
        ),
        bash('npx vitest run && npx tsc --noEmit', 'Test and compile', PASSING_RUN),
      ],
    }),
    agent({
      says: 'Done: `src/tokens.ts` knows about lines and blanks, `src/parse.ts` about stations. What it accepts is the same, down to `~` and `NaN`, and all 55 tests pass unchanged.',
    }),
  ],
}

/** A session that lost its last words to a power cut, and went on. */
const DAMAGED: Sample = {
  id: 'de300003-5a1e-4c0d-9f00-7ead1e5a0003',
  workdir: WORKDIR,
  gitBranch: 'main',
  model: 'claude-haiku-4-5-20251001',
  title: 'Import the old station list',
  endedMinutesAgo: 60 * 24 * 6 + 190,
  beats: [
    person(
      'There is a station list from 1998 in `data/old.csv`. Import it, but skip stations we already have.',
    ),
    agent({
      says: 'Let me see what is in it.',
      runs: [
        bash(
          'head -4 data/old.csv && wc -l data/old.csv',
          'Look at the old list',
          'NAME;LAT;LON;SINCE\nCUXHAVEN;53,87;8,72;1918\nHUSUM;54,47;9,05;1936\nBÜSUM;54,12;8,86;1950\n412 data/old.csv',
        ),
      ],
    }),
    {
      kind: 'torn',
      text: '{"parentUuid":"6d1a7c55-40fe-4f0c-8a8d-1f0b7c1d2e11","isSidechain":false,"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Decimal commas, names in capitals, and',
    },
    person('The power went out. Please go on where you were.', { afterMinutes: 25 }),
    agent({
      says: 'It has decimal commas and names in capitals, so names are compared without case.',
      runs: [
        bash(
          'node scripts/import-old.mjs data/old.csv --dry-run',
          'Try the import without writing',
          'read 411, known 388, new 23, unreadable 0',
        ),
      ],
    }),
    agent({ says: '23 stations are new. Shall I import them for real?' }),
    person('Yes.'),
    agent({
      runs: [
        bash(
          'node scripts/import-old.mjs data/old.csv',
          'Import them',
          'read 411, known 388, new 23, written 23',
        ),
      ],
    }),
    agent({ says: 'Imported: 23 new stations, 388 were known already.' }),
  ],
}

/** Sample sessions about a library for tide tables. */
export const TIDES: readonly Sample[] = [BUG_HUNT, REFACTOR, DAMAGED]
