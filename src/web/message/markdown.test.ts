import * as fc from 'fast-check'
import { isValidElement, type ComponentChildren, type VNode } from 'preact'
import { expect, test } from 'vitest'
import { isObject } from '#base'
import { anyMarkdown, runs, wordsOf } from '#testing'
import { CodeBlock } from './code-block.tsx'
import { Icon } from '../icon.tsx'
import { Link, Markdown } from './markdown.tsx'
import { Words } from './words.tsx'

const ELEMENTS =
  'div p h3 h4 h5 h6 blockquote ul ol li table thead tbody tr th td hr br strong em del code a mark label input span'.split(
    ' ',
  )
const ATTRIBUTES =
  'class dir href rel target title start value scope tabIndex role aria-label type disabled checked'.split(
    ' ',
  )

interface Seen {
  readonly element: string
  readonly attributes: Readonly<Record<string, unknown>>
}

/** Every element of a tree, with links made; its text; and what stands above its code. */
function look(children: ComponentChildren): {
  readonly seen: readonly Seen[]
  readonly text: string
  readonly languages: readonly string[]
} {
  const seen: Seen[] = []
  const languages: string[] = []
  let text = ''
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(visit)
    else if (isValidElement(node)) visitElement(node)
    else if (typeof node === 'string' || typeof node === 'number') text += String(node)
    else expect(node === null || node === undefined || typeof node === 'boolean').toBe(true)
  }
  const visitElement = (node: VNode): void => {
    const props: unknown = node.props
    if (!isObject(props)) throw new Error('a node without props')
    const { children: inside, ...attributes } = props
    if (node.type === CodeBlock) {
      // Its text is shown by the same rules; which pieces are coloured is the highlighter's test.
      expect(Object.keys(attributes).toSorted()).toEqual(['language', 'marks', 'text'])
      text += String(attributes['text'])
      languages.push(String(attributes['language']))
    } else if (node.type === Link)
      visit(Link({ href: String(attributes['href']), children: toChildren(inside) }))
    else if (node.type !== Icon) {
      seen.push({ element: String(node.type), attributes })
      visit(inside)
    }
  }
  visit(children)
  return { seen, text, languages }
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function toChildren(value: unknown): ComponentChildren {
  return Array.isArray(value)
    ? value.map(toChildren)
    : isValidElement(value) || typeof value === 'string'
      ? value
      : null
}

const markdown = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '\n',
        '\n\n',
        '# ',
        '- ',
        '- [x] ',
        '1. ',
        '> ',
        '```',
        '```ts\n',
        '| a | b |\n|---|---|\n',
        '**',
        '_',
        '`',
        '---\n',
        '[a](https://example.org)',
        '![a](https://example.org/x.png)',
        '[a](javascript:alert(1))',
        '[a](data:text/html,x)',
        '![](vbscript:x)',
        '[a](//example.org)',
        '<script>alert(1)</script>',
        '<img src=x onerror=alert(1)>',
        '</div><style>',
        'https://example.org/"onclick=alert(1)',
        '[a](https://example.org "t" onclick=x)',
        '<a href="javascript:1">',
        '\u202e',
      ),
    ),
    { maxLength: 24 },
  )
  .map((pieces) => pieces.join(''))

function check(seen: readonly Seen[]): void {
  for (const { element, attributes } of seen) {
    expect(ELEMENTS).toContain(element)
    for (const [name, value] of Object.entries(attributes)) {
      expect(ATTRIBUTES).toContain(name)
      if (name === 'href') {
        expect(String(value)).toMatch(/^(?:https?:\/\/|mailto:)/i)
        expect(attributes).toMatchObject({ rel: 'noopener noreferrer', target: '_blank' })
      }
      if (name === 'class')
        expect(['prose', 'table', 'task', 'image-link', 'image-address', 'words', 'words-text']).toContain(
          value,
        )
    }
  }
}

test('[WEB21] whatever an agent writes, only known elements, attributes and addresses come out', () => {
  fc.assert(
    fc.property(markdown, fc.array(fc.string({ maxLength: 3 }), { maxLength: 2 }), (text, marks) => {
      check(look(Markdown({ text, marks })).seen)
    }),
    runs(300),
  )
})

test('[WEB21] and whatever a person writes; not a word of it is lost', () => {
  fc.assert(
    fc.property(markdown, (text) => {
      const { seen } = look(Words({ text, marks: [] }))
      check(seen)
    }),
    runs(300),
  )
  const words = fc.array(fc.stringMatching(/^[a-z`#*_[\]() -]{1,12}$/), { maxLength: 30 })
  fc.assert(
    fc.property(words, (lines) => {
      const text = lines.join('\n')
      const bare = (shown: string): string => shown.replace(/```|\s/g, '')
      expect(bare(look(Words({ text, marks: [] })).text)).toBe(bare(text))
    }),
    runs(200),
  )
})

test('[WEB21] an image that is somewhere else is a link with its address, and nothing loads it', () => {
  const { seen, text } = look(Markdown({ text: 'See ![a chart](https://example.org/x.png)!', marks: [] }))
  expect(seen.map(({ element }) => element)).toEqual(['div', 'p', 'a', 'span'])
  expect(text).toBe('See a charthttps://example.org/x.png!')
})

test('[WEB21] a link that is no web or mail address stays text', () => {
  for (const address of [
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'vbscript:x',
    'x-app:go',
    '//a.b',
  ]) {
    const { seen } = look(Markdown({ text: `[here](${address}) ![there](${address})`, marks: [] }))
    expect(seen.some(({ element }) => element === 'a' || element === 'img')).toBe(false)
  }
})

test('[WEB22] task lists are ticked boxes that nobody can tick', () => {
  const { seen, text } = look(Markdown({ text: '- [x] done\n- [ ] to do\n- plain', marks: [] }))
  const boxes = seen.filter(({ element }) => element === 'input').map(({ attributes }) => attributes)
  expect(boxes).toEqual([
    { type: 'checkbox', disabled: true, checked: true },
    { type: 'checkbox', disabled: true, checked: false },
  ])
  expect(text).toBe('doneto doplain')
})

test('[WEB22] headings of a reply begin below those of the page', () => {
  const { seen } = look(Markdown({ text: '# a\n## b\n### c\n#### d\n##### e', marks: [] }))
  expect(seen.slice(1).map(({ element }) => element)).toEqual(['h3', 'h4', 'h5', 'h6', 'h6'])
})

test('[REND30] every word of a text is on the page, in what is read or in the address of a link', () => {
  fc.assert(
    fc.property(anyMarkdown(), (said) => {
      const { seen, text, languages } = look(Markdown({ text: said, marks: [] }))
      const addresses = seen.map(({ attributes }) => toText(attributes['href']))
      const shown = [text, ...languages, ...addresses].join(' ')
      expect(wordsOf(said).filter((word) => !shown.includes(word))).toEqual([])
    }),
    runs(300),
  )
})
