import { agent, bash, edit, person, read, write, type Sample } from './demo-beats.ts'

const WORKDIR = '/home/demo/work/field-notes'
const at = (path: string): string => `${WORKDIR}/${path}`

const EXPLANATION = `Three ways to keep a cache true, from the simplest to the most careful:

| strategy | a reader sees | a writer waits | good for |
|---|---|---|---|
| expire after a while | values up to *n* seconds old | never | pages, feeds |
| write through | the newest value | for the cache | settings, profiles |
| invalidate on write | the newest value, sometimes slowly | briefly | large things that change seldom |

**Expire after a while** needs nothing but a clock:

\`\`\`ts
const cached = new Map<string, { value: string; until: number }>()

export async function get(key: string, load: () => Promise<string>): Promise<string> {
  const known = cached.get(key)
  if (known !== undefined && known.until > Date.now()) return known.value
  const value = await load()
  cached.set(key, { value, until: Date.now() + 30_000 })
  return value
}
\`\`\`

**Write through** puts the value into both places, the store first:

\`\`\`python
def save(key: str, value: str) -> None:
    with store.transaction() as tx:
        tx.put(key, value)
    cache.set(key, value)      # only after the store has it
\`\`\`

**Invalidate on write** forgets instead of guessing:

\`\`\`sql
CREATE TRIGGER article_changed AFTER UPDATE ON article
BEGIN
  INSERT INTO stale (key) VALUES ('article/' || new.id);
END;
\`\`\`

and a small loop that empties that table:

\`\`\`bash
while sleep 1; do
  sqlite3 notes.db 'DELETE FROM stale RETURNING key' | xargs -r -n1 redis-cli del
done
\`\`\`

> A cache is a promise about the past. Say how old the past may be, and the rest follows.

For your notes I would take the first one: nobody minds if a page is half a minute old, and there is nothing to go wrong.`

/** Thinking, a table, and code in four languages. */
const EXPLAINING: Sample = {
  id: 'de300004-5a1e-4c0d-9f00-7ead1e5a0004',
  workdir: WORKDIR,
  gitBranch: 'main',
  model: 'claude-opus-4-5-20251101',
  title: 'Three ways to keep a cache true',
  endedMinutesAgo: 60 * 5,
  beats: [
    person(
      'I am writing a post about caching. Explain the three usual strategies to somebody who has never built one, with a short piece of code for each. A table to compare them would be nice.',
    ),
    agent({
      thinks:
        'For beginners: name each strategy by what it does, not by jargon. Compare along what a reader sees and what a writer pays. Code should be tiny and in languages the post already uses: TypeScript, Python, SQL and a little shell. End with a recommendation, because a comparison without one leaves a beginner alone.',
      says: EXPLANATION,
    }),
    person('Lovely. Save it as a draft and add the date.'),
    agent({
      runs: [
        write(
          at('drafts/caching.md'),
          `---\ntitle: Three ways to keep a cache true\ndraft: true\n---\n\n${EXPLANATION}\n`,
        ),
        bash('npx markdownlint drafts/caching.md', 'Check the draft', ''),
      ],
    }),
    agent({
      says: 'Saved as `drafts/caching.md`. It is marked as a draft, so it is not published with the next build.',
    }),
  ],
}

/** A prompt that was taken back, and another way that was gone instead. */
const REWOUND: Sample = {
  id: 'de300005-5a1e-4c0d-9f00-7ead1e5a0005',
  workdir: WORKDIR,
  gitBranch: 'new-look',
  model: 'claude-sonnet-4-5-20250929',
  title: 'A calmer colour for links',
  endedMinutesAgo: 60 * 24 * 3 + 75,
  beats: [
    person('Links in the blog are too loud. What would you change?'),
    agent({
      runs: [
        read(
          at('src/style.css'),
          ':root {\n  --text: #2b2a28;\n  --link: #e4002b;\n}\n\na {\n  color: var(--link);\n  font-weight: 700;\n}',
        ),
      ],
    }),
    agent({
      says: 'Two things make them loud: a pure red, and the bold weight. Either one alone would be enough to tell a link from the text.',
    }),
    person('Make them grey, without an underline.', { as: 'grey' }),
    agent({
      says: 'I can do that, but grey without an underline looks like text that is switched off: many readers will not find the links.',
      runs: [edit(at('src/style.css'), '  --link: #e4002b;', '  --link: #8a8782;')],
    }),
    agent({
      says: 'Done. The contrast to the background is 3.4, below the 4.5 that is recommended for text.',
    }),
    { kind: 'rewind', before: 'grey' },
    person('Keep an underline, but a thin one, and take a deep blue instead of the red.', {
      afterMinutes: 6,
    }),
    agent({
      runs: [
        edit(at('src/style.css'), '  --link: #e4002b;', '  --link: #1f4e79;'),
        edit(
          at('src/style.css'),
          'a {\n  color: var(--link);\n  font-weight: 700;\n}',
          'a {\n  color: var(--link);\n  text-decoration-thickness: 1px;\n  text-underline-offset: 0.15em;\n}',
        ),
      ],
    }),
    agent({
      says: 'Links are a deep blue now (contrast 8.6) with a thin underline, and no longer bold. They can be found, and they no longer shout.',
    }),
  ],
}

/** Sample sessions about a blog. */
export const BLOG: readonly Sample[] = [EXPLAINING, REWOUND]
