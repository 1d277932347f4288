import { array, assert, constantFrom, oneof, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { toPromptTitle } from './prompt-title.ts'

test.each([
  ['where is the heliotrope', 'where is the heliotrope'],
  [
    'Implement the following plan:\n\n# Plan: Show Diffs Side by Side\n\n## Context\n\nThe viewer shows one column.',
    'Show Diffs Side by Side',
  ],
  [
    'Implement the following plan:\n\n# Fix: Show `--trust` in the help\n\nIt is missing.',
    'Fix: Show --trust in the help',
  ],
  ['Implement the following plan:\n\nRename the two modules.', 'Rename the two modules.'],
  [
    '<ide_opened_file>The user opened the file /work/a.ts in the IDE.</ide_opened_file>\nfix the **second** test',
    'fix the second test',
  ],
  ['<system-reminder>Be brief.</system-reminder>', 'Be brief.'],
  ['make it faster <ide_selection>lines 3 to 90 of /work/a.ts that were cut', 'make it faster'],
  [
    '<command-name>/review</command-name>\n<command-args>https://github.com/acme/tool/pull/133/files</command-args>',
    '/review acme/tool#133',
  ],
  ['<bash-input>git status</bash-input>', '! git status'],
  [
    'read https://www.example.org/docs/guide/install.html?tab=linux, then [the notes](https://example.org/n)',
    'read example.org/…/install.html, then the notes',
  ],
  ['[Image #1]\n\n- make the box wider\n- and `__init__` stays', 'make the box wider and __init__ stays'],
  ['a <div> is not closed', 'a <div> is not closed'],
  [
    'please look at every place in which the name of a session is made, and say which are the same',
    'please look at every place in which the name of a session is…',
  ],
  [`x${'y'.repeat(90)}`, `x${'y'.repeat(58)}…`],
])('[READ60] the title of %j is %j', (prompt, title) => {
  expect(toPromptTitle(prompt)).toBe(title)
})

test('[READ60] every prompt with a visible word has a title: one line of at most 61 characters, and never half a character', () => {
  const parts = constantFrom(
    '<ide_x>',
    '</ide_x>',
    '# ',
    '`',
    '**',
    '\n',
    'https://a.b/c/d',
    'word ',
    '😀',
    '[',
    '](',
    ')',
  )
  assert(
    property(array(oneof(parts, string())), (pieces) => {
      const title = toPromptTitle(`w${pieces.join('')}`)
      expect(title).toMatch(/^\S(?:.*\S)?$/u)
      expect(title.length).toBeLessThanOrEqual(61)
      expect(() => encodeURIComponent(title)).not.toThrow()
    }),
  )
})
