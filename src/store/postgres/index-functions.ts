import { TIERS } from '../entry-codes.ts'
import { definer, refuse, REFUSE_STRANGERS, REFUSE_VIEWERS } from './definer.ts'

/** Who may see a file is what the log says of it; as long as it says nothing, only its owner. */
const PUT_FILE = `
  DECLARE
    made bigint;
  BEGIN
    IF my_team() IS NULL THEN ${REFUSE_STRANGERS} END IF;
    IF my_role() = 'viewer' THEN ${REFUSE_VIEWERS} END IF;
    INSERT INTO file AS f (team, owner, origin, key, path, agent, session, subagent, created, workdirs, "offset", guard,
                           seen, fold, small_agent, small_session, small_workdirs, scope, workdir)
    SELECT my_team(), my_person(), my_origin(), of_key, of_path, of_agent, of_session, of_subagent, of_created,
           of_workdirs, of_offset, of_guard, of_seen, of_fold, in_small[1], in_small[2], in_small[3],
           coalesce(known.scope, 'private'), known.workdir
    FROM (SELECT 1) AS one LEFT JOIN (
      SELECT log_file.scope, log_file.workdir FROM log_file
      WHERE log_file.team = my_team() AND log_file.origin = my_origin() AND log_file.path_key = of_key
      ORDER BY log_file.id DESC LIMIT 1) AS known ON true
    ON CONFLICT (team, key, origin) DO UPDATE SET
      agent = excluded.agent, session = excluded.session, subagent = excluded.subagent, created = excluded.created,
      workdirs = excluded.workdirs, "offset" = excluded."offset", guard = excluded.guard, seen = excluded.seen,
      fold = excluded.fold, small_agent = excluded.small_agent, small_session = excluded.small_session,
      small_workdirs = excluded.small_workdirs, scope = excluded.scope, workdir = excluded.workdir
    RETURNING id INTO made;
    PERFORM own_note_workdir(my_team(), my_person(), of_session, folder) FROM unnest(folders) AS folder;
    RETURN made;
  END`

/** The sum that a file has of a tier, with what it gained. */
const gained = (sum: 'texts' | 'words'): string =>
  `${sum} = ARRAY[${TIERS.map((_, tier) => `f.${sum}[${tier + 1}] + more.${sum}${tier}`).join(', ')}]`

const OF_TIERS = TIERS.map(
  (_, tier) =>
    `count(*) FILTER (WHERE g.tier = ${tier}) AS texts${tier},
     coalesce(sum(g.count) FILTER (WHERE g.tier = ${tier}), 0) AS words${tier}`,
).join(', ')

/**
 * Numbers are taken and used in one statement: from then on nobody else writes until the transaction ends, so it comes
 * last. A place counts from the lowest number on, or, below zero, back from the highest.
 */
const PUT_ENTRIES = `
  DECLARE
    my_team integer := my_team();
    low bigint;
    high bigint;
  BEGIN
    IF my_team IS NULL THEN ${REFUSE_STRANGERS} END IF;
    IF my_role() = 'viewer' THEN ${REFUSE_VIEWERS} END IF;
    IF EXISTS (
      SELECT 1 FROM (SELECT DISTINCT id FROM unnest(files || text_files) AS id) AS given LEFT JOIN file AS f
        ON f.team = my_team AND f.id = given.id AND f.owner = my_person() AND f.origin = my_origin()
      WHERE f.id IS NULL) THEN
      ${refuse('notAllowed', 'a file of another machine was to be indexed', 'Every machine indexes what is on it.')}
    END IF;
    IF past < 0 OR news < 0 OR past + news > 10000000 THEN
      ${refuse('invalid', 'numbers only grow', 'Ask for as many as there are entries.')}
    END IF;
    UPDATE index_state AS s SET lowest = s.lowest - past, highest = s.highest + news WHERE s.team = my_team
    RETURNING s.lowest, s.highest INTO low, high;
    IF EXISTS (SELECT 1 FROM unnest(places || text_places) AS at WHERE at > high - low OR at < low - high - 1) THEN
      ${refuse('invalid', 'a number was to be used that nobody was given', 'Ask for as many as there are entries.')}
    END IF;
    INSERT INTO entry (team, id, file, "offset", length, at, kind, speaker, tool, small_tool, flags)
    SELECT my_team, CASE WHEN g.place >= 0 THEN low + g.place ELSE high + 1 + g.place END, g.file, g."offset", g.length,
           g.at, g.kind, g.speaker, g.tool, g.small_tool, g.flags
    FROM unnest(places, files, offsets, lengths, ats, kinds, speakers, tools, small_tools, flagged)
      AS g (place, file, "offset", length, at, kind, speaker, tool, small_tool, flags);
    INSERT INTO entry_text (team, entry, file, tier, count, is_long, words, lexemes)
    SELECT my_team, CASE WHEN g.place >= 0 THEN low + g.place ELSE high + 1 + g.place END, g.file, g.tier, g.count,
           g.is_long, g.words, g.lexemes::tsvector
    FROM unnest(text_places, text_files, tiers, counts, are_long, texts, lexemes)
      AS g (place, file, tier, count, is_long, words, lexemes);
    UPDATE file AS f SET ${gained('texts')}, ${gained('words')}
    FROM (SELECT g.file, ${OF_TIERS} FROM unnest(text_files, tiers, counts) AS g (file, tier, count) GROUP BY g.file)
      AS more
    WHERE f.team = my_team AND f.id = more.file;
    RETURN high;
  END`

/** What must hold between the tables, and how to find what breaks it. The server looks after its own pages. */
const OF_TEAM = 'team = (SELECT my_team())'
const CHECKS: readonly (readonly [says: string, sql: string])[] = [
  [
    'entries of no file',
    `SELECT 1 FROM entry AS e WHERE e.${OF_TEAM}
       AND NOT EXISTS (SELECT 1 FROM file AS f WHERE f.team = e.team AND f.id = e.file)`,
  ],
  [
    'texts of no entry',
    `SELECT 1 FROM entry_text AS t WHERE t.${OF_TEAM}
       AND NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.team = t.team AND e.id = t.entry AND e.file = t.file)`,
  ],
  [
    'bills of no file',
    `SELECT 1 FROM bill AS b WHERE b.${OF_TEAM}
       AND NOT EXISTS (SELECT 1 FROM file AS f WHERE f.team = b.team AND f.id = b.file)`,
  ],
  [
    'entries numbered beyond the last',
    `SELECT 1 FROM entry AS e JOIN index_state AS s USING (team) WHERE e.${OF_TEAM}
       AND (e.id > s.highest OR e.id < s.lowest)`,
  ],
  [
    'texts that were counted wrong',
    `SELECT 1 FROM file AS f CROSS JOIN generate_series(0, ${TIERS.length - 1}) AS tier LEFT JOIN (
       SELECT file, tier, count(*) AS texts, sum(count) AS words FROM entry_text WHERE ${OF_TEAM} GROUP BY file, tier
     ) AS t ON t.file = f.id AND t.tier = tier.tier
     WHERE f.${OF_TEAM} AND (f.texts[tier.tier + 1] <> coalesce(t.texts, 0)
       OR f.words[tier.tier + 1] <> coalesce(t.words, 0))`,
  ],
]

/**
 * Puts what was added lately where it is found faster, and counts anew what the server plans its searches by: it would
 * do both by itself some time later, and search badly until then.
 */
const TIDY = `
  DECLARE
    pages bigint;
    name text;
  BEGIN
    IF my_team() IS NULL THEN RETURN 0; END IF;
    SELECT coalesce(sum(gin_clean_pending_list(indexrelid)), 0) INTO pages FROM pg_stat_user_indexes
    WHERE schemaname = current_schema() AND indexrelname IN (${TIERS.map((tier) => `'entry_text_${tier}'`).join(', ')});
    -- The count of changes comes seconds late, and its own size tells a table that has grown at once.
    FOR name IN SELECT s.relname FROM pg_stat_user_tables AS s JOIN pg_class AS c ON c.oid = s.relid
      WHERE s.schemaname = current_schema() AND s.relname IN ('file', 'entry', 'entry_text', 'bill', 'log_file', 'log_line')
        AND (s.n_mod_since_analyze > 1000 + s.n_live_tup / 5
          OR pg_relation_size(c.oid) / current_setting('block_size')::bigint > 16 + c.relpages::bigint * 6 / 5) LOOP
      EXECUTE format('ANALYZE %I', name);
    END LOOP;
    RETURN pages;
  END`

/** How the index is written, checked and tidied: in few statements, each of which finds out once who asks. */
export const INDEX_FUNCTIONS: string = [
  definer(
    `put_index_file(of_key bytea, of_path text, of_agent text, of_session text, of_subagent text, of_created text,
       of_workdirs text, of_offset bigint, of_guard text, of_seen text, of_fold text, in_small text[], folders text[])
       RETURNS bigint LANGUAGE plpgsql`,
    PUT_FILE,
  ),
  definer(
    `put_entries(past bigint, news bigint, places bigint[], files bigint[], offsets bigint[], lengths bigint[],
       ats bigint[], kinds smallint[], speakers smallint[], tools text[], small_tools text[], flagged smallint[],
       text_places bigint[], text_files bigint[], tiers smallint[], counts integer[], are_long boolean[], texts text[],
       lexemes text[]) RETURNS bigint LANGUAGE plpgsql`,
    PUT_ENTRIES,
  ),
  definer(
    'index_faults() RETURNS SETOF text LANGUAGE sql STABLE',
    CHECKS.map(([says, sql]) => `SELECT '${says}' WHERE EXISTS (${sql})`).join(' UNION ALL '),
  ),
  definer('tidy_index() RETURNS bigint LANGUAGE plpgsql', TIDY),
].join('\n')
