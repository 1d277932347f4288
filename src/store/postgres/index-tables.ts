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
 * `file` says whose it is and who may see it: what `log_file` says, and only its owner where that does not know it.
 */
export const INDEX_TABLES: string = `
  CREATE TABLE index_state (
    id integer PRIMARY KEY CHECK (id = 1),
    epoch text NOT NULL,
    lowest bigint NOT NULL,
    highest bigint NOT NULL
  );
  CREATE TABLE index_weight (
    tier smallint PRIMARY KEY,
    texts bigint NOT NULL DEFAULT 0,
    words bigint NOT NULL DEFAULT 0
  );
  INSERT INTO index_weight (tier) VALUES ${TIERS.map((_, tier) => `(${tier})`).join(', ')};
  CREATE TABLE word (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,
    key bytea NOT NULL,
    text text NOT NULL,
    UNIQUE (kind, key)
  );
  CREATE TABLE file (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team integer NOT NULL,
    owner integer NOT NULL,
    scope text NOT NULL,
    workdir text,
    key bytea NOT NULL,
    path text NOT NULL,
    origin text NOT NULL,
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
    UNIQUE (team, key, origin)
  );
  CREATE INDEX file_session ON file (session);
  CREATE INDEX file_small_session ON file (small_session text_pattern_ops);
  CREATE INDEX file_small_workdirs ON file USING gin (small_workdirs gin_trgm_ops);
  CREATE TABLE entry (
    id bigint PRIMARY KEY,
    file bigint NOT NULL,
    "offset" bigint NOT NULL,
    length bigint NOT NULL,
    at bigint,
    tool integer,
    kind smallint NOT NULL,
    speaker smallint NOT NULL,
    flags smallint NOT NULL
  );
  CREATE INDEX entry_file ON entry (file);
  CREATE TABLE entry_text (
    entry bigint NOT NULL,
    count integer NOT NULL,
    tier smallint NOT NULL,
    is_long boolean NOT NULL,
    words text COLLATE "C" NOT NULL,
    lexemes tsvector NOT NULL,
    PRIMARY KEY (entry, tier)
  );
  ${TIERS.map(
    (name, tier) => `CREATE INDEX entry_text_${name} ON entry_text USING gin (lexemes) WHERE tier = ${tier};`,
  ).join('\n')}
  CREATE TABLE bill (
    file bigint NOT NULL,
    key text NOT NULL,
    at bigint,
    model integer,
    workdir integer,
    input bigint NOT NULL,
    output bigint NOT NULL,
    cache_read bigint NOT NULL,
    cache_creation bigint NOT NULL,
    cache_creation_5m bigint NOT NULL,
    cache_creation_1h bigint NOT NULL,
    PRIMARY KEY (file, key)
  );
`
