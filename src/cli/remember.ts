import { resolve } from 'node:path'
import type { Throughline } from '#app'
import { ThroughlineError } from '#base'
import { safeLine, safeText } from '#render'
import type { RememberOutcome, RememberRequest } from '#wire'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { readPrompt } from './live-session.ts'
import { toMoment } from './moment.ts'

/** `throughline remember` */
export async function remember(throughline: Throughline, values: Values, console: Console): Promise<number> {
  const { memory } = throughline
  const request = await toRequest(values, console.now)
  const first = await memory.remember(request)
  const nearest = first.kind === 'near' ? first.near[0] : undefined
  const choice = toChoice(values)
  const outcome =
    nearest === undefined || choice === undefined
      ? first
      : await memory.remember({ ...request, near: { choice, id: nearest.document.id } })
  if (values.flag('json')) await console.out.write(toJsonLine(outcome))
  else await tell(outcome, console)
  return outcome.kind === 'near' || outcome.kind === 'secret' ? 1 : 0
}

async function toRequest(values: Values, now: number): Promise<RememberRequest> {
  const words = values.args.join(' ')
  const content = words === '-' ? await readPrompt(['-']) : words
  if (content === undefined || content.trim() === '') {
    throw new ThroughlineError('bad-usage', 'there is nothing to remember', {
      hint: 'Say it in words, or pipe it in: `throughline remember -`.',
    })
  }
  const type = (['learning', 'marker', 'teaching', 'artifact'] as const).find(
    (one) => one === values.value('type'),
  )
  const category = findCategory(values.value('category'))
  const expires = values.value('expires')
  const agents = values.all('agent')
  const scope = (['team', 'workdir'] as const).find((one) => one === values.value('share'))
  return {
    content: content.trim(),
    ...(type === undefined ? {} : { type }),
    ...(category === undefined ? {} : { category }),
    tags: values.all('tag'),
    ...(values.flag('pin') ? { pinned: true } : {}),
    ...(expires === undefined ? {} : { expiresAt: toMoment(expires, now) }),
    ...(agents.length === 0 ? {} : { audience: { agents, workdirs: [] } }),
    files: values.all('file').map((file) => resolve(file)),
    ...(values.flag('everywhere') ? {} : { workdir: resolve(values.value('workdir') ?? '.') }),
    ...(scope === undefined ? {} : { scope }),
    ...(values.flag('keep-secret') ? { keepSecret: true } : {}),
  }
}

/** The category of this name. */
export function findCategory(name: string | undefined): RememberRequest['category'] {
  return (['transcript', 'identity', 'knowledge', 'operational'] as const).find((one) => one === name)
}

function toChoice(values: Values): 'update' | 'keep-both' | undefined {
  const [update, both] = [values.flag('update'), values.flag('keep-both')]
  if (update && both) {
    throw new ThroughlineError('bad-usage', '--update and --keep-both say different things', {
      hint: 'Give only one of them.',
    })
  }
  return update ? 'update' : both ? 'keep-both' : undefined
}

async function tell(outcome: RememberOutcome, console: Console): Promise<void> {
  switch (outcome.kind) {
    case 'remembered':
      await console.out.write(`${safeLine(outcome.document.id)}\n`)
      return
    case 'confirmed':
      await console.out.write(`${safeLine(outcome.document.id)}\n`)
      console.say('note: already remembered; confirmed')
      return
    case 'held':
      await console.out.write(`${safeLine(outcome.document.id)}\n`)
      console.say(`note: it waits for a person: ${outcome.reason}`)
      console.say(`next: throughline documents approve ${outcome.document.id}`)
      return
    case 'near':
      console.say('error: nothing was written: nearly the same is known')
      for (const { document, differs } of outcome.near) {
        console.say(`  ${document.id}${differs.length === 0 ? '' : `, differs in ${differs.join(', ')}`}`)
        console.say(`    ${safeText(document.content).split('\n')[0] ?? ''}`)
      }
      console.say(
        'next: say what is meant: --update changes the first of them, --keep-both keeps this one too.',
      )
      return
    case 'secret':
      console.say(`error: nothing was written: it looks like a secret (${outcome.secrets.join(', ')})`)
      console.say(`  without it: ${safeLine(outcome.masked)}`)
      console.say('next: leave it out, or add --keep-secret.')
      return
    case 'ignored':
      console.say('note: nothing was written')
  }
}
