import {
  textOf,
  type Block,
  type Damage,
  type Passage,
  type PromptMessage,
  type ReplyMessage,
  type ToolCall,
} from '#model'
import { findPlan, toJson } from './call-input.ts'
import { toCallParts, withoutPrompt, type CallPart } from './call-parts.ts'
import { toClock, toCount, toDamageLine, toDate } from './figures.ts'
import { toHtmlText } from './html-escape.ts'
import { toHtmlProse } from './html-markdown.ts'
import { toImageAddress } from './image-source.ts'
import { toToolLine } from './tool-line.ts'
import {
  agentName,
  callsById,
  delegatedBy,
  describeBlock,
  describeCompaction,
  speakerOf,
  type Transcript,
} from './transcript.ts'

/** Where on the page something stands. */
export interface Spot {
  readonly transcript: Transcript
  /** How many subagents we are inside of. */
  readonly depth: number
  /** The number of a prompt of the session itself; its anchor. */
  readonly prompt?: number
}

/** Prompts beyond this length show their beginning, and the rest on demand. */
const LONG_PROMPT = 5000
const SHOWN_OF_LONG_PROMPT = 1500

/** One passage as HTML, in as many strings as it has parts. */
export async function* passageToHtml(passage: Passage, spot: Spot): AsyncGenerator<string> {
  switch (passage.kind) {
    case 'damage':
      yield damageToHtml(passage.damage)
      return
    case 'prompt':
      yield promptToHtml(passage, spot)
      return
    case 'reply':
      yield* replyToHtml(passage, spot)
      return
    case 'command': {
      const name = passage.command ?? ''
      const line =
        name === ''
          ? ''
          : `<b>${toHtmlText(name.startsWith('/') ? name : `/${name}`)}</b> ${toHtmlText(passage.args ?? '')}`
      const output = (passage.output ?? '').trim()
      const printed = output === '' ? '' : `<pre tabindex="0">${toHtmlText(output)}</pre>`
      if (line + printed !== '')
        yield `<div class="${withPath('command', passage)}">${line}${printed}</div>\n`
      return
    }
    case 'compaction': {
      const label = `<p class="label"><span>${toHtmlText(describeCompaction(passage.compaction))}</span></p>`
      const summary = textOf(passage.summary).trim()
      const folded =
        summary === ''
          ? ''
          : fold(
              'quiet',
              'Summary the agent went on with',
              `<div class="prose">${toHtmlProse(summary)}</div>`,
            )
      yield `<section class="divider" aria-label="Compaction">${label}${folded}</section>\n`
      return
    }
    case 'notice':
      if (passage.text.trim() === '') return
      yield `<p class="${/err|warn|crit/i.test(passage.level) ? 'notice loud' : 'notice'}">${toHtmlText(passage.text.trim())}</p>\n`
      return
    case 'orphan': {
      const inside = outputToHtml(passage.answer.content, passage.answer.isError)
      yield fold(
        'failed',
        `Result of a call that is not here <code>${toHtmlText(passage.toolUseId)}</code>`,
        inside,
      )
      return
    }
    case 'aside':
      // Counted at the foot of the page.
      return
  }
}

function promptToHtml(prompt: PromptMessage, spot: Spot): string {
  const said = textOf(prompt.blocks).trim()
  const things = prompt.blocks.filter((block) => block.kind !== 'text').map(blockToHtml)
  const anchor = spot.prompt === undefined ? '' : ` id="prompt-${spot.prompt}"`
  const number = spot.prompt === undefined ? '' : `<a href="#prompt-${spot.prompt}">#${spot.prompt}</a>`
  const meanwhile = prompt.midTurn ? '<span>while the agent was working</span>' : ''
  const kind = withPath(prompt.origin === 'system' ? 'prompt system' : 'prompt', prompt)
  return `<article class="${kind}"${anchor}>${who(speakerOf(prompt, spot.depth), prompt.at, meanwhile + number)}${longWords(said)}${things.join('')}</article>\n`
}

function longWords(said: string): string {
  if (said === '') return ''
  if (said.length <= LONG_PROMPT) return `<div class="words" dir="auto">${toHtmlText(said)}</div>`
  const cut = said.lastIndexOf('\n', SHOWN_OF_LONG_PROMPT)
  const end = cut > SHOWN_OF_LONG_PROMPT / 2 ? cut : SHOWN_OF_LONG_PROMPT
  const rest = said.slice(end)
  const head = `<div class="words" dir="auto">${toHtmlText(said.slice(0, end))}…</div>`
  return (
    head +
    fold(
      'quiet',
      `${toCount(rest.length)} more characters`,
      `<div class="words" dir="auto">${toHtmlText(rest)}</div>`,
    )
  )
}

async function* replyToHtml(reply: ReplyMessage, spot: Spot): AsyncGenerator<string> {
  const calls = callsById(reply.calls)
  const kind = reply.apiError ? 'reply api-error' : reply.synthetic ? 'reply synthetic' : 'reply'
  let opened = false
  const open = (html: string): string => {
    if (opened) return html
    opened = true
    return `<article class="${withPath(kind, reply)}">${who(agentName(spot.transcript.session), reply.at, '')}${html}`
  }
  for (const block of reply.blocks) {
    switch (block.kind) {
      case 'text':
        if (block.text.trim() !== '')
          yield open(`<div class="prose" dir="auto">${toHtmlProse(block.text)}</div>\n`)
        break
      case 'thinking':
        if (block.thinking.trim() === '') break
        yield open(
          fold(
            'quiet',
            describeBlock(block),
            `<div class="thought" dir="auto">${toHtmlText(block.thinking.trim())}</div>`,
          ),
        )
        break
      case 'tool-use':
        yield open('')
        yield* callToHtml(calls.get(block.id) ?? { use: block, state: 'pending' }, spot)
        break
      case 'redacted-thinking':
      case 'image':
      case 'document':
      case 'unknown':
      case 'tool-result':
        yield open(blockToHtml(block))
        break
    }
  }
  if (opened) yield '</article>\n'
}

async function* callToHtml(call: ToolCall, spot: Spot): AsyncGenerator<string> {
  const { session } = spot.transcript
  const { tool, detail, before, outcome } = toToolLine(call, { workdir: session.workdirs[0] })
  const changed =
    before === undefined ? '' : `<span class="changed">changed from ${toHtmlText(before)}</span>`
  const end = outcome === '' ? '' : `<span class="outcome">${toHtmlText(outcome)}</span>`
  const summary = `<b>${toHtmlText(tool)}</b><span class="what">${toHtmlText(detail)}</span>${changed}${end}`
  // A plan is what a person came to read.
  const open = findPlan(call) === undefined ? '' : ' open'
  yield `<details class="fold ${call.state}"${open}><summary>${summary}</summary><div class="inside">`
  const subagent = delegatedBy(spot.transcript, call, spot.depth)
  if (subagent === undefined) {
    for (const part of toCallParts(call)) yield partToHtml(part)
  } else {
    const parts = withoutPrompt(toCallParts(call), call)
    for (const part of parts) if (part.kind !== 'output') yield partToHtml(part)
    yield '<div class="subagent" role="group" aria-label="Conversation of the subagent">'
    const inner: Spot = { transcript: spot.transcript, depth: spot.depth + 1 }
    for await (const batch of subagent.passages) {
      for (const passage of batch) yield* passageToHtml(passage, inner)
    }
    yield '</div>'
    for (const part of parts) if (part.kind === 'output') yield partToHtml(part)
  }
  yield '</div></details>\n'
}

function partToHtml(part: CallPart): string {
  switch (part.kind) {
    case 'plan':
      return `<div class="plan" dir="auto">${toHtmlProse(part.text)}</div>`
    case 'input':
      return `<pre tabindex="0">${toHtmlText(part.text)}</pre>`
    case 'note':
      return `<p class="changed">${toHtmlText(part.text)}</p>`
    case 'diff': {
      const mark = { added: '+', removed: '−', same: ' ' }
      const lines = part.lines.map(
        ({ kind, text }) => `<span class="${kind}">${mark[kind]} ${toHtmlText(text)}\n</span>`,
      )
      return `<pre class="diff" tabindex="0">${lines.join('')}</pre>`
    }
    case 'output':
      return outputToHtml(part.blocks, part.failed)
  }
}

function outputToHtml(blocks: readonly Block[], failed: boolean): string {
  const html = blocks.map((block) => {
    if (block.kind !== 'text') return blockToHtml(block)
    const text = block.text.trimEnd()
    return text === '' ? '' : `<pre tabindex="0"${failed ? ' class="error"' : ''}>${toHtmlText(text)}</pre>`
  })
  const shown = html.join('')
  return shown === '' ? '<p class="notice">(no output)</p>' : `<div>${shown}</div>`
}

function blockToHtml(block: Block): string {
  const what = toHtmlText(describeBlock(block))
  switch (block.kind) {
    case 'image': {
      const address = toImageAddress(block.source)
      return address === undefined
        ? `<p class="thing">${what}</p>`
        : `<img alt="${what}" src="${address}" loading="lazy">`
    }
    case 'unknown':
      return fold('quiet', what, `<pre tabindex="0">${toHtmlText(toJson(block.value))}</pre>`)
    case 'document':
      if (block.source.kind !== 'text') return `<p class="thing">${what}</p>`
      return fold('quiet', what, `<pre tabindex="0">${toHtmlText(block.source.text)}</pre>`)
    case 'text':
      return `<div class="words" dir="auto">${toHtmlText(block.text)}</div>`
    case 'tool-result':
      return outputToHtml(block.content, block.isError)
    case 'thinking':
    case 'redacted-thinking':
    case 'tool-use':
      return `<p class="thing">${what}</p>`
  }
}

function damageToHtml(damage: Damage): string {
  return `<p class="damage" role="note">⚠ ${toHtmlText(toDamageLine(damage))}</p>\n`
}

function who(name: string, at: string | undefined, more: string): string {
  const time =
    at === undefined || Number.isNaN(Date.parse(at))
      ? ''
      : `<time datetime="${new Date(at).toISOString()}" title="${toDate(at)} UTC">${toClock(at)}</time>`
  return `<p class="who"><b>${toHtmlText(name)}</b>${time}${more}</p>`
}

/** `summary` and `inside` are HTML already. */
function fold(kind: string, summary: string, inside: string): string {
  return `<details class="fold ${kind}"><summary>${summary}</summary><div class="inside">${inside}</div></details>\n`
}

function withPath(kind: string, message: { readonly offPath?: true }): string {
  return message.offPath === true ? `${kind} off-path` : kind
}
