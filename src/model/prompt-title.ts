import { shorten } from '#base'

/** A row of a list has room for so much. */
const TITLE_LENGTH = 60
/** What a title is taken from: enough for a plan's first heading behind what a client put before it. */
const LOOKED_AT = 4000

/**
 * What a session is called after its first prompt: one line of at most 60 characters, without what clients put into
 * prompts, without Markdown marks, and with short addresses. Of a plan that is to be implemented, its first heading.
 */
export function toPromptTitle(prompt: string): string {
  const text = prompt.slice(0, LOOKED_AT)
  const said = toSaid(text)
  const title = toOneLine(said === '' ? withoutTags(text) : (headingOfPlan(said) ?? said))
  return cut(
    title === ''
      ? prompt
          .slice(0, 2 * TITLE_LENGTH)
          .replaceAll(/\s+/gu, ' ')
          .trim()
      : title,
  )
}

/** The words of the person: a slash command as it was typed, and nothing of what a client wrapped in tags. */
function toSaid(text: string): string {
  const command = tagged(text, 'command-name')
  if (command !== undefined) return `${command} ${tagged(text, 'command-args') ?? ''}`.trim()
  const shell = tagged(text, 'bash-input')
  if (shell !== undefined) return `! ${shell}`
  return (
    text
      .replaceAll(CLIENT_BLOCK, ' ')
      // A prompt that was cut short may end inside of one.
      .replace(OPEN_BLOCK, ' ')
      .trim()
  )
}

/** Tags of clients have an underscore or a hyphen: `<ide_opened_file>`, `<system-reminder>`. Those of people do not. */
const CLIENT_BLOCK = /<([a-z]+[_-][a-z_-]+)>[\s\S]*?<\/\1>/gu
const OPEN_BLOCK = /<[a-z]+[_-][a-z_-]+>[\s\S]*$/u

function tagged(text: string, tag: string): string | undefined {
  const from = text.indexOf(`<${tag}>`)
  const to = text.indexOf(`</${tag}>`)
  if (from < 0 || to < from) return undefined
  const inside = text.slice(from + tag.length + 2, to).trim()
  return inside === '' ? undefined : inside
}

function withoutTags(text: string): string {
  return text.replaceAll(/<\/?[a-z]+[_-][a-z_-]+>/gu, ' ')
}

/** What a client says when a person approved a plan, and the plan behind it. */
function headingOfPlan(text: string): string | undefined {
  const plan = /^implement the following plan:?\s+([\s\S]+)$/iu.exec(text)?.[1]
  if (plan === undefined) return undefined
  const heading = /^#{1,6}[ \t]+(.+)$/mu.exec(plan)?.[1]
  return heading?.replace(/^(?:implementation )?plan\s*[:–—-]\s*/iu, '') ?? plan
}

function toOneLine(text: string): string {
  return text
    .replaceAll(/\[Image #\d+\]/gu, ' ')
    .replaceAll(/!?\[([^\]\n]+)\]\((?:[^()\n]+)\)/gu, '$1')
    .replaceAll(/https?:\/\/[^\s<>"'`]+/gu, toShortAddress)
    .replaceAll(/^[ \t]*(?:#{1,6}|>+|[-*+])[ \t]+/gmu, '')
    .replaceAll(/\*\*([^*\n]+)\*\*/gu, '$1')
    .replaceAll(/`+([^`\n]+)`+/gu, '$1')
    .replaceAll(/\s+/gu, ' ')
    .trim()
}

/** `entireio/cli#133` for a pull request or an issue, else the host and the end of the path. */
function toShortAddress(address: string): string {
  const end = /[.,;:!?)\]]+$/u.exec(address)?.[0] ?? ''
  const url = address.slice(0, address.length - end.length)
  const request = /^https?:\/\/[^/]+\/([^/]+\/[^/]+)\/(?:-\/)?(?:pull|issues|merge_requests)\/(\d+)/u.exec(
    url,
  )
  if (request !== null) return `${request[1] ?? ''}#${request[2] ?? ''}${end}`
  const [host = '', ...path] = url
    .replace(/^https?:\/\/(?:www\.)?/u, '')
    .replace(/[?#].*$/u, '')
    .split('/')
    .filter((part) => part !== '')
  const last = path.at(-1)
  return `${[host, ...(path.length > 1 ? ['…'] : []), ...(last === undefined ? [] : [last])].join('/')}${end}`
}

/** Cut between words where that leaves most of it. */
function cut(title: string): string {
  if (title.length <= TITLE_LENGTH) return title
  const space = title.lastIndexOf(' ', TITLE_LENGTH)
  if (space < TITLE_LENGTH / 2) return shorten(title, TITLE_LENGTH - 1)
  return `${title.slice(0, space).replace(/[\s,;:.+&–—-]+$/u, '')}…`
}
