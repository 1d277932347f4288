import { isShared, type Asking } from './access.ts'
import { definer } from './definer.ts'

/** Whoever a function is asked about. */
const ASKER: Asking = { team: 'my_team()', person: 'asker' }

/** What is told of a machine: its key, what it is called, whose it is, and whether that is whoever asks. */
const PLACE = 'key text, machine text, person text, mine boolean'
const MS = (column: string): string =>
  `(extract(epoch FROM ${column} - clock_timestamp()) * 1000)::double precision`

/**
 * The steps of calls and leases. Each is one that whoever asks may take, or it is not taken. Functions that begin with
 * `own_` are for these alone.
 */
export const DESK_FUNCTIONS: string = [
  // What somebody may do with a live session: answer, read, or nothing. Who was removed may nothing.
  definer(
    `own_desk_may(asker integer, whose integer, name text, folder text) RETURNS text LANGUAGE sql STABLE`,
    `SELECT CASE
       WHEN person.id = whose THEN 'answer'
       WHEN person.role <> 'viewer' AND ${isShared('live', { by: ASKER, may: 'answer' })} THEN 'answer'
       WHEN ${isShared('live', { by: ASKER })} THEN 'read' END
     FROM (SELECT my_team() AS team, whose AS owner, name AS session, folder AS workdir) AS live
       JOIN person ON person.team = live.team AND person.id = asker AND person.removed_at IS NULL`,
  ),
  definer(
    `desk_may(whose integer, name text, folder text) RETURNS text LANGUAGE sql STABLE`,
    `SELECT own_desk_may(my_person(), whose, name, folder)`,
  ),
  definer(
    `desk_may_call(callee integer, name text) RETURNS boolean LANGUAGE sql STABLE`,
    `SELECT EXISTS (
       SELECT 1 FROM live_session AS live
       WHERE live.team = my_team() AND live.origin = callee AND live.session = name
         AND desk_may(live.owner, live.session, live.workdir) = 'answer')`,
  ),
  definer(
    `own_desk_origin(wanted integer) RETURNS TABLE (${PLACE}) LANGUAGE sql STABLE`,
    `SELECT o.key, o.machine, p.name, o.owner = my_person()
     FROM origin AS o JOIN person AS p ON p.team = o.team AND p.id = o.owner
     WHERE o.team = my_team() AND o.id = wanted`,
  ),
  // Of machines that show one something.
  definer(
    `desk_origin(wanted integer) RETURNS TABLE (${PLACE}) LANGUAGE sql STABLE`,
    `SELECT place.* FROM own_desk_origin(wanted) AS place
     WHERE place.mine
       OR EXISTS (SELECT 1 FROM live_session AS live WHERE live.team = my_team() AND live.origin = wanted
                    AND desk_may(live.owner, live.session, live.workdir) IS NOT NULL)
       OR EXISTS (SELECT 1 FROM session_author AS said WHERE said.team = my_team() AND said.origin = wanted
                    AND desk_may(said.owner, said.session, said.workdir) IS NOT NULL)`,
  ),
  // Who went on with something of this machine.
  definer(
    `desk_onward() RETURNS TABLE (session text, agent text, to_session text, to_agent text, at timestamptz, ${PLACE})
       LANGUAGE sql STABLE`,
    `SELECT o.session, o.agent, o.to_session, o.to_agent, o.at, place.*
     FROM session_onward AS o CROSS JOIN LATERAL own_desk_origin(o.to_origin) AS place
     WHERE o.team = my_team() AND o.origin = my_origin()`,
  ),
  // Takes up what is open, from those who still may. What another run took up and did not answer comes as lost.
  definer(
    `desk_take(mine text, most integer)
       RETURNS TABLE (call text, session text, body bytea, lost boolean, ${PLACE.replace('mine', 'is_mine')}) LANGUAGE sql VOLATILE`,
    `UPDATE desk_call AS c SET state = 'refused', answered = clock_timestamp()
     WHERE c.team = my_team() AND c.to_origin = my_origin() AND c.state = 'open' AND (
       EXISTS (SELECT 1 FROM origin WHERE origin.team = c.team AND origin.id = c.from_origin
                 AND origin.revoked_at IS NOT NULL)
       OR NOT EXISTS (
         SELECT 1 FROM live_session AS live
         WHERE live.team = c.team AND live.origin = c.to_origin AND live.session = c.session
           AND own_desk_may(c.from_person, live.owner, live.session, live.workdir) = 'answer'));
     UPDATE desk_call AS c SET state = 'taken', run = mine
     FROM (
       SELECT o.id FROM desk_call AS o
       WHERE o.team = my_team() AND o.to_origin = my_origin() AND o.state = 'open' AND o.expires > clock_timestamp()
       ORDER BY o.created LIMIT most FOR UPDATE SKIP LOCKED
     ) AS waiting
     WHERE c.team = my_team() AND c.id = waiting.id;
     SELECT c.id, c.session, c.body, c.run <> desk_take.mine, place.*
     FROM desk_call AS c CROSS JOIN LATERAL own_desk_origin(c.from_origin) AS place
     WHERE c.team = my_team() AND c.to_origin = my_origin() AND c.state = 'taken'
     ORDER BY c.created`,
  ),
  definer(
    `desk_answer(call text, said bytea) RETURNS void LANGUAGE sql VOLATILE`,
    `UPDATE desk_call SET state = 'answered', answer = said, answered = clock_timestamp()
     WHERE team = my_team() AND id = call AND to_origin = my_origin() AND state = 'taken'`,
  ),
  definer(
    `desk_withdraw(call text) RETURNS text LANGUAGE sql VOLATILE`,
    `UPDATE desk_call SET state = 'withdrawn', answered = clock_timestamp()
     WHERE team = my_team() AND id = call AND from_origin = my_origin() AND state = 'open';
     SELECT state FROM desk_call WHERE team = my_team() AND id = call AND from_origin = my_origin()`,
  ),
  definer(
    `desk_sweep() RETURNS void LANGUAGE sql VOLATILE`,
    `DELETE FROM desk_call WHERE team = my_team() AND created < clock_timestamp() - interval '1 day';
     DELETE FROM live_session WHERE team = my_team() AND expires < clock_timestamp() - interval '1 day';
     DELETE FROM lease WHERE team = my_team() AND expires < clock_timestamp() - interval '1 day'`,
  ),
  // Who does not get it is told who has it.
  definer(
    `lease_take(wanted text, ms integer)
       RETURNS TABLE (held boolean, remaining double precision, ${PLACE}) LANGUAGE sql VOLATILE`,
    `INSERT INTO lease AS l (team, session, origin, owner, expires)
     VALUES (my_team(), wanted, my_origin(), my_person(), clock_timestamp() + ms * interval '1 millisecond')
     ON CONFLICT (team, session) DO UPDATE SET
       origin = excluded.origin, owner = excluded.owner, expires = excluded.expires,
       contender = CASE WHEN l.origin = excluded.origin THEN l.contender END, contended = l.contended
     WHERE l.origin = excluded.origin OR l.expires <= clock_timestamp();
     SELECT l.origin = my_origin(), ${MS('l.expires')}, place.*
     FROM lease AS l CROSS JOIN LATERAL own_desk_origin(l.origin) AS place
     WHERE l.team = my_team() AND l.session = wanted`,
  ),
  // Of sessions that run here. Where another machine has it, that one is told that it runs here too.
  definer(
    `lease_keep(wanted text[], ms integer)
       RETURNS TABLE (name text, held boolean, holder json, contender json) LANGUAGE plpgsql VOLATILE`,
    `DECLARE each_one text;
     BEGIN
       FOR each_one IN SELECT DISTINCT w FROM unnest(wanted) AS w ORDER BY w LOOP
         PERFORM lease_take(each_one, ms);
         UPDATE lease AS l SET contender = my_origin(), contended = clock_timestamp()
         WHERE l.team = my_team() AND l.session = each_one AND l.origin <> my_origin();
       END LOOP;
       RETURN QUERY
         SELECT l.session, l.origin = my_origin(),
           (SELECT to_json(place) FROM own_desk_origin(l.origin) AS place),
           (SELECT to_json(place) FROM own_desk_origin(l.contender) AS place
            WHERE l.contended > clock_timestamp() - interval '1 minute')
         FROM lease AS l WHERE l.team = my_team() AND l.session = ANY(wanted);
     END`,
  ),
  definer(
    `lease_release(held text) RETURNS void LANGUAGE sql VOLATILE`,
    `DELETE FROM lease WHERE team = my_team() AND session = held AND origin = my_origin()`,
  ),
  // For whoever knows the session: there is no list of them.
  definer(
    `lease_find(wanted text) RETURNS TABLE (held boolean, remaining double precision, ${PLACE}) LANGUAGE sql VOLATILE`,
    `SELECT l.origin = my_origin(), ${MS('l.expires')}, place.*
     FROM lease AS l CROSS JOIN LATERAL own_desk_origin(l.origin) AS place
     WHERE l.team = my_team() AND l.session = wanted AND l.expires > clock_timestamp()`,
  ),
].join('\n')
