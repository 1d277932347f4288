import { definer, refuse, REFUSE_STRANGERS, REFUSE_VIEWERS } from './definer.ts'

/** Of SHA-256. */
export const HASH_BYTES = 32
/** What is read at once, at least one batch. */
const NEWS_BYTES = 8 * 1024 * 1024
const NEWS_BATCHES = 500

/**
 * Lines go in first, and only then the clock is asked for numbers: others wait for the little that comes after. The
 * clock stands still where nothing was new. It is one statement for whoever calls it: no lock is held while he is on
 * the way.
 */
const APPEND = `
  DECLARE
    my_team integer := my_team();
    my_person integer := my_person();
    my_origin integer := my_origin();
    batch_id bigint;
    added bigint;
    now_last bigint;
  BEGIN
    IF my_team IS NULL THEN ${REFUSE_STRANGERS} END IF;
    IF my_role() = 'viewer' THEN ${REFUSE_VIEWERS} END IF;
    IF EXISTS (
      SELECT 1 FROM unnest(files) AS given (file) LEFT JOIN log_file
        ON log_file.team = my_team AND log_file.id = given.file AND log_file.owner = my_person
          AND log_file.origin = my_origin
      WHERE log_file.id IS NULL) THEN
      ${refuse('notAllowed', 'lines were sent to a file of somebody else', 'Make the file known with putFile first, on the machine it is on.')}
    END IF;
    IF 0 = ANY(bytes_at) AND EXISTS (
      SELECT 1 FROM unnest(hash_at, bytes_at) AS given (hash_at, bytes_at) LEFT JOIN blob_holder
        ON blob_holder.team = my_team AND blob_holder.owner = my_person
          AND blob_holder.hash = substring(hashes FROM given.hash_at FOR ${HASH_BYTES})
      WHERE given.bytes_at = 0 AND blob_holder.hash IS NULL) THEN
      ${refuse('notAllowed', 'a long line was sent by its name alone', 'Send its bytes first.')}
    END IF;
    batch_id := nextval('log_batch_id');
    INSERT INTO log_line (team, position, file, "offset", batch, length, hash, bytes)
    SELECT my_team, given.position - 1, given.file, given."offset", batch_id, given.length,
           substring(hashes FROM given.hash_at FOR ${HASH_BYTES}),
           CASE WHEN given.bytes_at > 0 THEN substring(content FROM given.bytes_at FOR given.length::integer) END
    FROM unnest(files, offsets, lengths, hash_at, bytes_at)
      WITH ORDINALITY AS given (file, "offset", length, hash_at, bytes_at, position)
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS added = ROW_COUNT;
    IF added = 0 THEN RETURN 0; END IF;
    UPDATE log_file SET size = given.size
    FROM (SELECT file, max("offset" + length) AS size FROM unnest(files, offsets, lengths) AS g (file, "offset", length)
          GROUP BY file) AS given
    WHERE log_file.team = my_team AND log_file.id = given.file AND log_file.size < given.size;
    UPDATE team_clock SET last = last + cardinality(files) WHERE team = my_team RETURNING last INTO now_last;
    INSERT INTO log_batch (team, last, first, id, bytes)
    VALUES (my_team, now_last, now_last - cardinality(files) + 1, batch_id, octet_length(content));
    PERFORM pg_notify(own_channel(my_team), 'log');
    RETURN added;
  END`

/** What our code asks of the log that a policy cannot say. */
export const LOG_FUNCTIONS: string = [
  definer(
    `append_lines(hashes bytea, content bytea, files bigint[], offsets bigint[], lengths bigint[], hash_at integer[],
       bytes_at integer[]) RETURNS bigint LANGUAGE plpgsql`,
    APPEND,
  ),
  definer(
    'batches_after(number bigint) RETURNS TABLE (id bigint, first bigint, last bigint) LANGUAGE plpgsql STABLE',
    `BEGIN
      IF my_team() IS NULL THEN ${REFUSE_STRANGERS} END IF;
      RETURN QUERY SELECT counted.id, counted.first, counted.last FROM (
        SELECT few.id, few.first, few.last, sum(few.bytes) OVER (ORDER BY few.last) - few.bytes AS before
        FROM (SELECT b.id, b.first, b.last, b.bytes FROM log_batch AS b
              WHERE b.team = (SELECT my_team()) AND b.last > number ORDER BY b.last LIMIT ${NEWS_BATCHES}) AS few
      ) AS counted WHERE counted.before < ${NEWS_BYTES} ORDER BY counted.last;
    END`,
  ),
  definer(
    'keep_blob(of_hash bytea, pieces integer) RETURNS void LANGUAGE plpgsql',
    `DECLARE
      whole bytea;
      kept integer;
    BEGIN
      IF my_team() IS NULL THEN ${REFUSE_STRANGERS} END IF;
      IF my_role() = 'viewer' THEN ${REFUSE_VIEWERS} END IF;
      SELECT string_agg(bytes, '' ORDER BY number) INTO whole FROM blob_upload
      WHERE team = my_team() AND origin = my_origin() AND hash = of_hash AND number < pieces;
      -- What is said to be something is that, or others would read it as theirs.
      IF whole IS NULL OR sha256(whole) <> of_hash THEN
        ${refuse('invalid', 'a long line did not arrive whole', 'Send it again.')}
      END IF;
      INSERT INTO blob VALUES (my_team(), of_hash, octet_length(whole)) ON CONFLICT DO NOTHING;
      GET DIAGNOSTICS kept = ROW_COUNT;
      IF kept > 0 THEN
        INSERT INTO blob_piece SELECT team, hash, number, bytes FROM blob_upload
        WHERE team = my_team() AND origin = my_origin() AND hash = of_hash AND number < pieces;
      END IF;
      DELETE FROM blob_upload WHERE team = my_team() AND origin = my_origin() AND hash = of_hash;
      INSERT INTO blob_holder VALUES (my_team(), of_hash, my_person()) ON CONFLICT DO NOTHING;
    END`,
  ),
  definer(
    'own_file_changed() RETURNS trigger LANGUAGE plpgsql',
    `BEGIN
      IF NEW.session IS NOT NULL AND NEW.workdir IS NOT NULL THEN
        PERFORM own_note_workdir(NEW.team, NEW.owner, NEW.session, NEW.workdir);
      END IF;
      IF TG_OP = 'UPDATE' AND NEW.scope <> OLD.scope THEN PERFORM own_tell_access(NEW.team); END IF;
      RETURN NULL;
    END`,
  ),
  `CREATE OR REPLACE TRIGGER noted AFTER INSERT OR UPDATE OF session, workdir, scope ON log_file
     FOR EACH ROW EXECUTE FUNCTION own_file_changed();`,
].join('\n')
