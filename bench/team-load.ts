import { setTimeout as sleep } from 'node:timers/promises'
import { number, parseJson } from '#base'
import { openPostgresStore, openTeamLog, type EntryRow, type TeamLog } from '#store'
import { hold } from './comparison.ts'
import { quantile } from './measure.ts'
import { ms, type Row } from './table.ts'
import { originOf, type TeamGround } from './team-place.ts'

const MACHINES = 50
const LINES_PER_SECOND = 20
const EVERY_MS = 250
const LASTS_MS = 20_000
/** What a line of a transcript has, about. */
const FILLING = 'x'.repeat(1200)

/** Fifty machines that each write twenty lines a second: how long until somebody else has them. */
export async function teamLoadRows({ place }: TeamGround): Promise<readonly Row[]> {
  const machines: { readonly log: TeamLog; readonly file: number }[] = []
  const lags: number[] = []
  const acknowledged: number[] = []
  for (let n = 0; n < MACHINES; n++) {
    const address = await place.addMachine({ person: `p${n}` })
    const log = await openTeamLog({ address, most: 1 })
    const file = await log.putFile({
      kind: 'transcript',
      path: `/w/${n}.jsonl`,
      identity: `${n}`,
      scope: 'team',
    })
    machines.push({ log, file })
  }
  const reader = await openTeamLog({ address: place.admin })
  const listening = reader.listen({
    after: await reader.newest(),
    onNews({ lines }) {
      const now = Date.now()
      for (const { bytes } of lines) {
        const at = number(parseJson(bytes?.toString('utf8') ?? ''), 'at')
        if (at !== undefined) lags.push(now - at)
      }
    },
  })
  const begun = performance.now()
  let sent = 0
  await Promise.all(
    machines.map(async ({ log, file }, n) => {
      let offset = 0
      await sleep((EVERY_MS * n) / MACHINES)
      for (let turn = 0; performance.now() - begun < LASTS_MS; turn++) {
        const lines = Array.from({ length: (LINES_PER_SECOND * EVERY_MS) / 1000 }, () => {
          const bytes = Buffer.from(`${JSON.stringify({ at: Date.now(), filling: FILLING })}\n`)
          const line = { file, offset, bytes }
          offset += bytes.length
          return line
        })
        const started = performance.now()
        await log.append(lines)
        acknowledged.push(performance.now() - started)
        sent += lines.length
        await sleep(
          Math.max(0, begun + (EVERY_MS * n) / MACHINES + (turn + 1) * EVERY_MS - performance.now()),
        )
      }
    }),
  )
  const lasted = performance.now() - begun
  const deadline = performance.now() + 10_000
  while (lags.length < sent && performance.now() < deadline) await sleep(50)
  await listening.close()
  for (const { log } of machines) await log.close()
  await reader.close()
  const wanted = MACHINES * LINES_PER_SECOND
  return [
    hold({
      name: `team, ${MACHINES} machines with ${LINES_PER_SECOND} lines/s each: sustained`,
      value: (sent / lasted) * 1000,
      show: (value) => `${Math.round(value)} lines/s`,
      least: wanted * 0.98,
      note: `acknowledged p50 ${ms(quantile(acknowledged, 0.5))}, p99 ${ms(quantile(acknowledged, 0.99))}`,
      fault: lags.length === sent ? undefined : `${sent - lags.length} of ${sent} lines did not arrive`,
    }),
    hold({
      name: `team, ${MACHINES} machines: a line is with somebody else, p99`,
      value: quantile(lags, 0.99),
      show: ms,
      most: 1000,
      note: `p50 ${ms(quantile(lags, 0.5))}; one reader that sees everything`,
    }),
  ]
}

const FED_EVERY_MS = 500
const WORDS = 'the quick brown fox of the checkout jumps over a lazy parser and tests it twice '

/** The same machines feed the index: as many entries, gathered for half a second as they do it. */
export async function teamFeedRows({ place }: TeamGround): Promise<readonly Row[]> {
  const took: number[] = []
  const stores = await Promise.all(
    Array.from({ length: MACHINES }, async (_, n) => {
      const address = await place.addMachine({ person: `p${n}`, machine: `feeding ${n}` })
      const origin = await originOf(place, new URL(address.reveal()).username)
      return { store: await openPostgresStore({ address, most: 1 }), origin }
    }),
  )
  const begun = performance.now()
  let sent = 0
  await Promise.all(
    stores.map(async ({ store, origin }, n) => {
      let offset = 0
      await sleep((FED_EVERY_MS * n) / MACHINES)
      for (let turn = 0; performance.now() - begun < LASTS_MS; turn++) {
        const entries = Array.from({ length: (LINES_PER_SECOND * FED_EVERY_MS) / 1000 }, (): EntryRow => {
          offset += 1200
          const said = `${WORDS.repeat(4)} ${n} ${offset}`
          return {
            offset,
            length: 1199,
            kind: 'reply',
            speaker: 'agent',
            isError: false,
            hasDirective: false,
            text: { said },
          }
        })
        const started = performance.now()
        const at = {
          path: `/w/${n}.jsonl`,
          origin,
          agent: 'claude',
          session: `s${n}`,
          createdAt: '',
          workdirs: ['/w'],
        }
        const file = { ...at, offset, guard: '', seen: '', fold: '{}' }
        await store.apply([{ kind: 'advance', file, anew: false, as: 'news', entries, bills: [] }])
        took.push(performance.now() - started)
        sent += entries.length
        await sleep(
          Math.max(0, begun + (FED_EVERY_MS * n) / MACHINES + (turn + 1) * FED_EVERY_MS - performance.now()),
        )
      }
    }),
  )
  const lasted = performance.now() - begun
  for (const { store } of stores) await store.close()
  return [
    hold({
      name: `team, ${MACHINES} machines feed the index with ${LINES_PER_SECOND} entries/s each: sustained`,
      value: (sent / lasted) * 1000,
      show: (value) => `${Math.round(value)} entries/s`,
      least: MACHINES * LINES_PER_SECOND * 0.95,
      note: `committed p50 ${ms(quantile(took, 0.5))}, p99 ${ms(quantile(took, 0.99))}; one after another, as numbers are given`,
    }),
  ]
}
