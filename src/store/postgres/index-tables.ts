import { TIERS } from '../entry-codes.ts'

/**
 * The index. Everything in it can be built again from the transcripts. `small` columns are in small letters as
 * JavaScript makes them: that of PostgreSQL depends on the locale of the server.
 *
 * `entry_text.words` has the words of a text as they are searched, each between blanks, so that words in a row are a
 * piece of it. `lexemes` has each of them once, for the inverted index: a `tsvector` counts no further than 16,383
 * words and takes no more than a megabyte, so it says only which entries to look at. A text that is too large for one
 * has the mark `~` instead.
 *
 * `file` says whose it is and who may see it: what `log_file` says, and only its owner where that does not know it. It
 * also has how many texts and words there are of it in each tier. Nothing is stored once for several of them: a list of
 * words that everybody reads would tell what others work on.
 *
 * The key of a text begins with its entry: before the server has counted its rows, it takes a key that begins with the
 * team for one that leads to few of them, and reads them all.
 */
export const INDEX_TABLES: string = `
  CREATE TABLE index_state (
    team integer PRIMARY KEY,
    epoch text NOT NULL,
    lowest bigint NOT NULL,
    highest bigint NOT NULL
  ) WITH (fillfactor = 10);
  CREATE TABLE file (
    team integer NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    owner integer NOT NULL,
    origin integer NOT NULL,
    kind text NOT NULL DEFAULT 'transcript',
    scope text NOT NULL,
    workdir text,
    key bytea NOT NULL,
    path text NOT NULL,
    agent text NOT NULL,
    session text NOT NULL,
    subagent text,
    created text NOT NULL,
    workdirs text NOT NULL,
    "offset" bigint NOT NULL,
    guard text NOT NULL,
    seen text NOT NULL,
    fold text NOT NULL,
    small_agent text NOT NULL,
    small_session text NOT NULL,
    small_workdirs text NOT NULL,
    texts bigint[] NOT NULL DEFAULT '{${zeros()}}',
    words bigint[] NOT NULL DEFAULT '{${zeros()}}',
    PRIMARY KEY (team, id),
    UNIQUE (team, key, origin)
  ) WITH (fillfactor = 70);
  CREATE INDEX file_origin ON file (team, origin);
  CREATE INDEX file_session ON file (session);
  CREATE INDEX file_small_session ON file (small_session text_pattern_ops);
  CREATE INDEX file_small_workdirs ON file USING gin (small_workdirs gin_trgm_ops);
  CREATE TABLE entry (
    team integer NOT NULL,
    id bigint NOT NULL,
    file bigint NOT NULL,
    "offset" bigint NOT NULL,
    length bigint NOT NULL,
    at bigint,
    kind smallint NOT NULL,
    speaker smallint NOT NULL,
    flags smallint NOT NULL,
    tool text,
    small_tool text,
    PRIMARY KEY (team, id)
  );
  CREATE INDEX entry_file ON entry (team, file);
  CREATE TABLE entry_text (
    team integer NOT NULL,
    entry bigint NOT NULL,
    file bigint NOT NULL,
    count integer NOT NULL,
    tier smallint NOT NULL,
    is_long boolean NOT NULL,
    words text COLLATE "C" NOT NULL,
    lexemes tsvector NOT NULL,
    PRIMARY KEY (entry, team, tier)
  );
  ${TIERS.map(
    (name, tier) => `CREATE INDEX entry_text_${name} ON entry_text USING gin (lexemes) WHERE tier = ${tier};`,
  ).join('\n')}
  CREATE TABLE bill (
    team integer NOT NULL,
    file bigint NOT NULL,
    key text NOT NULL,
    at bigint,
    model text,
    workdir text,
    input bigint NOT NULL,
    output bigint NOT NULL,
    cache_read bigint NOT NULL,
    cache_creation bigint NOT NULL,
    cache_creation_5m bigint NOT NULL,
    cache_creation_1h bigint NOT NULL,
    PRIMARY KEY (team, file, key)
  );
`

function zeros(): string {
  return TIERS.map(() => '0').join(',')
}
