import { mayRead } from './access.ts'
import { definer } from './definer.ts'
import { B, K1, WEIGHED } from './weight.ts'

/**
 * Searching, in the database. A policy is asked before anything else that could tell what a row has in it, and to ask
 * an inverted index tells just that: under a policy every search would read every text. So these functions narrow down
 * by the index, and give numbers of entries that whoever calls them may see. They take what is asked for as data, and
 * write the statement themselves.
 *
 * `asked` has what `toAsked` makes of a search.
 */
const VISIBLE = `EXISTS (SELECT 1 FROM file AS f WHERE f.id = %3$s.file AND
  ${mayRead('f', { team: '%1$s', person: '%2$s', open: '%5$L' })} %4$s)`

/** `FROM` and `WHERE` of the entries of a tier that match; without words, of all that have something in one of `flags`. */
const FROM = `
  DECLARE
    parts text[] := '{}';
    clause jsonb;
    hasWords boolean := asked ? 'candidates';
    r text := CASE WHEN hasWords THEN 't' ELSE 'e' END;
    ofEntry integer;
  BEGIN
    -- What only the row of an entry says.
    IF NOT hasWords THEN parts := parts || format('e.flags & %s <> 0', flags); END IF;
    FOR clause IN SELECT value FROM jsonb_array_elements(asked->'choices') LOOP
      parts := parts || format('e.%I %s (%s)', CASE clause->>'column' WHEN 'kind' THEN 'kind' ELSE 'speaker' END,
        CASE WHEN (clause->>'not')::boolean THEN 'NOT IN' ELSE 'IN' END,
        (SELECT string_agg(value::integer::text, ',') FROM jsonb_array_elements_text(clause->'values')));
    END LOOP;
    FOR clause IN SELECT value FROM jsonb_array_elements(asked->'tools') LOOP
      parts := parts || CASE WHEN (clause->>'not')::boolean
        THEN format('(e.small_tool IS NULL OR NOT (e.small_tool = ANY(%L::text[]) OR e.small_tool LIKE ANY(%L::text[])))',
                    own_texts(clause->'names'), own_texts(clause->'starts'))
        ELSE format('(e.small_tool = ANY(%L::text[]) OR e.small_tool LIKE ANY(%L::text[]))',
                    own_texts(clause->'names'), own_texts(clause->'starts')) END;
    END LOOP;
    IF asked ? 'from' THEN parts := parts || format('e.at >= %s', (asked->>'from')::bigint); END IF;
    IF asked ? 'to' THEN parts := parts || format('e.at < %s', (asked->>'to')::bigint); END IF;
    FOR clause IN SELECT value FROM jsonb_array_elements(asked->'flags') LOOP
      parts := parts || format('e.flags & %s %s 0', (clause->>'flag')::integer,
        CASE WHEN (clause->>'isSet')::boolean THEN '<>' ELSE '=' END);
    END LOOP;
    ofEntry := cardinality(parts);
    parts := parts || format('%s.team = %s', r, my_team());
    IF asked ? 'newer' THEN
      parts := parts || format('%s > %s', CASE WHEN hasWords THEN 't.entry' ELSE 'e.id' END, (asked->>'newer')::bigint);
    END IF;
    IF asked ? 'files' THEN
      parts := parts || format('%s.file = ANY(%L::bigint[])', r,
        (SELECT array_agg(value::bigint) FROM jsonb_array_elements_text(asked->'files')));
    END IF;
    IF hasWords THEN
      parts := parts || format('t.tier = %s', tier) || format('t.lexemes @@ %L::tsquery', asked->>'candidates')
        || coalesce((
          SELECT CASE WHEN (asked->>'isExact')::boolean THEN '(NOT t.is_long OR (' || string_agg(said, ' AND ') || '))'
                      ELSE string_agg(said, ' AND ') END
          FROM (
            SELECT CASE WHEN (clauses.value->>'not')::boolean THEN 'NOT ' ELSE '' END
                   || '(' || (SELECT string_agg(format('position(%L in t.words) > 0', piece), ' OR ')
                              FROM jsonb_array_elements_text(clauses.value->'pieces') AS piece) || ')' AS said
            FROM jsonb_array_elements(asked->'clauses') AS clauses) AS all_clauses), 'true');
    END IF;
    parts := parts || format($visible$${VISIBLE}$visible$, my_team(), my_person(), r,
      CASE WHEN (asked->>'others')::boolean THEN format('AND f.origin <> %s', my_origin()) ELSE '' END, my_open_sharers());
    RETURN CASE WHEN NOT hasWords THEN 'FROM entry AS e'
                WHEN ofEntry > 0 THEN 'FROM entry_text AS t JOIN entry AS e ON e.team = t.team AND e.id = t.entry'
                ELSE 'FROM entry_text AS t' END
      || ' WHERE ' || array_to_string(parts, ' AND ');
  END`

const RANK = `
  DECLARE
    piece text;
    n integer := 0;
    times text[] := '{}';
    weights text[] := '{}';
  BEGIN
    IF my_team() IS NULL THEN RETURN; END IF;
    FOR piece IN SELECT value FROM jsonb_array_elements_text(asked->'forms') LOOP
      times := times || format('(octet_length(t.words) - octet_length(replace(t.words, %L, %L))) / %s AS t%s',
        piece, '', octet_length(piece), n);
      weights := weights || format('%s::float8 * t%s * ${K1 + 1} / (t%s + ${K1} * (${1 - B} + ${B} * count / %s::float8))',
        idfs[n + 1], n, n, average);
      n := n + 1;
    END LOOP;
    RETURN QUERY EXECUTE format(
      'WITH found AS MATERIALIZED (
         SELECT entry, %s AS weight FROM (
           SELECT t.entry, t.count, %s %s ORDER BY t.entry DESC LIMIT ${WEIGHED}) AS newest)
       SELECT entry, (SELECT count(*) FROM found) FROM found ORDER BY weight DESC, entry DESC LIMIT %s OFFSET %s',
      array_to_string(weights, ' + '), array_to_string(times, ', '), own_search(asked, tier, 0), most, skip);
  END`

const counted = (from: string): string => `
  DECLARE
    found bigint;
  BEGIN
    IF my_team() IS NULL THEN RETURN 0; END IF;
    EXECUTE ${from} INTO found;
    RETURN found;
  END`

const listed = (column: string, order: string): string => `
  BEGIN
    IF my_team() IS NULL THEN RETURN; END IF;
    RETURN QUERY EXECUTE 'SELECT ' || ${column} || own_search(asked, tier, flags) || ' ${order}'
      || format(' LIMIT %s OFFSET %s', most, skip);
  END`

export const SEARCH_FUNCTIONS: string = [
  definer(
    'own_texts(listed jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE',
    "SELECT coalesce(array_agg(value), '{}') FROM jsonb_array_elements_text(listed)",
  ),
  definer('own_search(asked jsonb, tier integer, flags integer) RETURNS text LANGUAGE plpgsql STABLE', FROM),
  definer(
    `search_rank(asked jsonb, tier integer, idfs float8[], average float8, most integer, skip integer)
       RETURNS TABLE (entry bigint, found bigint) LANGUAGE plpgsql STABLE`,
    RANK,
  ),
  definer(
    'search_count(asked jsonb, tier integer, flags integer) RETURNS bigint LANGUAGE plpgsql STABLE',
    counted("'SELECT count(*) ' || own_search(asked, tier, flags)"),
  ),
  definer(
    'search_rarity(asked jsonb, tier integer) RETURNS bigint LANGUAGE plpgsql STABLE',
    counted(
      `'SELECT count(*) FROM (SELECT 1 ' || own_search(asked, tier, 0) || ' LIMIT ${WEIGHED}) AS counted'`,
    ),
  ),
  definer(
    `search_newest(asked jsonb, tier integer, flags integer, most integer, skip integer)
       RETURNS TABLE (id bigint, has smallint) LANGUAGE plpgsql STABLE`,
    listed("'e.id, e.flags '", 'ORDER BY e.id DESC'),
  ),
  definer(
    `search_news(asked jsonb, tier integer, flags integer, most integer, skip integer)
       RETURNS TABLE (id bigint) LANGUAGE plpgsql STABLE`,
    listed("CASE WHEN asked ? 'candidates' THEN 't.entry ' ELSE 'e.id ' END", 'ORDER BY 1'),
  ),
].join('\n')
