import { string } from '#base'

/** What clients put in the person's place, for the model alone. Each stands in one pair of tags. */
const TAGS = [
  'system-reminder',
  'environment_context',
  'environments_instructions',
  'user_instructions',
  'skills_instructions',
  'permissions instructions',
  'collaboration_mode',
  'personality_spec',
  'apps_instructions',
  'plugins_instructions',
  'recommended_plugins',
  'session_context',
  'hook_context',
].join('|')

const WRAPPED = new RegExp(String.raw`^\s*<(${TAGS})>[^]*</\1>\s*$`, 'u')
/** Codex sends the instructions of a folder under this heading. */
const INSTRUCTIONS = /^\s*# AGENTS\.md instructions[^]*<\/INSTRUCTIONS>\s*$/u
const REMINDERS = /<system-reminder>[^]*?<\/system-reminder>\s*/gu

/** Whether nobody said this text: a client added it to what it sends. */
function isInjected(text: string): boolean {
  return WRAPPED.test(text) || INSTRUCTIONS.test(text)
}

/** Whether a person said none of the words of a message. A message without words is not asked about. */
export function isInjectedOnly(content: string | readonly object[]): boolean {
  if (typeof content === 'string') return isInjected(content)
  return content.length > 0 && content.every((block) => isText(block) && isInjected(textOf(block)))
}

/** What a person said of the content of a message: its texts, with an empty line between them. */
export function personsWords(content: unknown): string {
  const texts = Array.isArray(content) ? content.filter(isText).map(textOf) : [content]
  return texts
    .filter((text): text is string => typeof text === 'string' && !isInjected(text))
    .map((text) => text.replaceAll(REMINDERS, ''))
    .filter((text) => text.trim() !== '')
    .join('\n\n')
}

function isText(block: unknown): block is object {
  return string(block, 'type') === 'text'
}

function textOf(block: object): string {
  return string(block, 'text') ?? ''
}
