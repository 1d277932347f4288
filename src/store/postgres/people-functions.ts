import { SHARE_FUNCTIONS } from './access.ts'
import { definer, refuse, REFUSE_STRANGERS } from './definer.ts'

/** The machine that a login belongs to, as long as it may come in. */
const ASKING = `login JOIN origin ON origin.team = login.team AND origin.id = login.origin
    JOIN person ON person.team = origin.team AND person.id = origin.owner
  WHERE login.name = session_user AND origin.joined_at IS NOT NULL AND origin.revoked_at IS NULL
    AND person.removed_at IS NULL`

const who = (name: string, type: string, column: string): string =>
  definer(`${name}() RETURNS ${type} LANGUAGE sql STABLE`, `SELECT ${column} FROM ${ASKING}`)

/** A password is never seen here: what is stored of it is made by whoever chose it. */
const VERIFIER = '^SCRAM-SHA-256\\$[0-9]+:[A-Za-z0-9+/=]+\\$[A-Za-z0-9+/=]+:[A-Za-z0-9+/=]+$'

const CHECK_VERIFIER = `IF verifier !~ '${VERIFIER}' THEN
    ${refuse('invalid', 'this is not how a password is stored', 'It is made by `throughline team`.')}
  END IF;`

const LAST_ADMIN = `IF NOT EXISTS (
    SELECT 1 FROM person WHERE team = my_team() AND role = 'admin' AND removed_at IS NULL
      AND person.id <> meant.id) AND meant.role = 'admin' THEN
    ${refuse('invalid', 'this is the only admin of the team', 'Make somebody else an admin first: `throughline team role`.')}
  END IF;`

const FIND_PERSON = `SELECT * INTO meant FROM person WHERE team = my_team() AND name = person_name FOR UPDATE;
  IF NOT FOUND THEN
    ${refuse('invalid', 'nobody in the team has this name', 'Names are as `throughline team status` has them.')}
  END IF;`

const ADMINS_ONLY = refuse(
  'notAllowed',
  'only an admin of the team may do that',
  'Ask one of them: `throughline team status`.',
)

/** Ends connections of a login, where the server lets us; without them, nobody is anybody any more anyway. */
const END_CONNECTIONS = `BEGIN
    PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE usename = login_name AND pid <> pg_backend_pid();
  EXCEPTION WHEN insufficient_privilege THEN NULL;
  END;`

/** Functions for everybody in a team; those that begin with `own_` are for the database's owner and our other functions. */
export const PEOPLE_FUNCTIONS: string = [
  who('my_team', 'integer', 'origin.team'),
  who('my_person', 'integer', 'person.id'),
  who('my_origin', 'integer', 'origin.id'),
  who('my_role', 'text', 'person.role'),
  ...SHARE_FUNCTIONS.map(([head, body]) => definer(head, body)),
  definer(
    'own_channel(of_team integer) RETURNS text LANGUAGE sql STABLE',
    `SELECT 'throughline_' || substr(md5(current_schema()), 1, 12) || '_' || of_team`,
  ),
  definer('my_channel() RETURNS text LANGUAGE sql STABLE', 'SELECT own_channel(my_team())'),
  definer(
    'own_tell_access(of_team integer) RETURNS void LANGUAGE plpgsql',
    `BEGIN
      UPDATE team SET access = access + 1 WHERE id = of_team;
      PERFORM pg_notify(own_channel(of_team), 'access');
    END`,
  ),
  definer(
    'own_access_changed() RETURNS trigger LANGUAGE plpgsql',
    `BEGIN
      PERFORM own_tell_access(coalesce(NEW.team, OLD.team));
      RETURN NULL;
    END`,
  ),
  definer(
    'own_share_changed() RETURNS trigger LANGUAGE plpgsql',
    `BEGIN
      IF OLD.kind <> 'everything' THEN PERFORM own_share_sessions(OLD.team, OLD.owner, OLD.reader); END IF;
      IF NEW.kind <> 'everything' THEN PERFORM own_share_sessions(NEW.team, NEW.owner, NEW.reader); END IF;
      PERFORM own_tell_access(coalesce(NEW.team, OLD.team));
      RETURN NULL;
    END`,
  ),
  definer(
    `enter_team() RETURNS TABLE (state text, team integer, person integer, origin integer, team_name text,
       person_name text, role text, machine text, origin_key text, channel text) LANGUAGE plpgsql`,
    `BEGIN
      UPDATE origin SET seen_at = now() WHERE origin.team = my_team() AND origin.id = my_origin()
        AND (seen_at IS NULL OR seen_at < now() - interval '1 minute');
      RETURN QUERY SELECT
        CASE WHEN o.revoked_at IS NOT NULL OR p.removed_at IS NOT NULL THEN 'revoked'
             WHEN o.joined_at IS NULL THEN 'invited' ELSE 'joined' END,
        t.id, p.id, o.id, t.name, p.name, p.role, o.machine, o.key, own_channel(t.id)
      FROM login AS l JOIN origin AS o ON o.team = l.team AND o.id = l.origin
        JOIN person AS p ON p.team = o.team AND p.id = o.owner JOIN team AS t ON t.id = o.team
      WHERE l.name = session_user;
    END`,
  ),
  definer(
    `own_make_machine(of_team integer, of_person integer, verifier text, expires timestamptz, machine_name text)
       RETURNS TABLE (origin_key text, login_name name) LANGUAGE plpgsql`,
    `DECLARE
      made integer;
      group_name text := (SELECT value FROM setting WHERE name = 'group');
    BEGIN
      ${CHECK_VERIFIER}
      origin_key := substr(replace(gen_random_uuid()::text, '-', ''), 1, 16);
      login_name := 'throughline_' || replace(gen_random_uuid()::text, '-', '');
      INSERT INTO origin (team, key, machine, owner, expires_at, joined_at)
      VALUES (of_team, origin_key, coalesce(machine_name, ''), of_person, expires,
              CASE WHEN machine_name IS NULL THEN NULL ELSE now() END)
      RETURNING id INTO made;
      INSERT INTO login (name, team, origin) VALUES (login_name, of_team, made);
      EXECUTE format('CREATE ROLE %I LOGIN PASSWORD %L VALID UNTIL %L IN ROLE %I', login_name, verifier,
                     coalesce(expires::text, 'infinity'), group_name);
      IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        -- Who may end its connections is who has its rights.
        EXECUTE format('GRANT %I TO %I' || CASE WHEN current_setting('server_version_num')::integer >= 160000
                                                THEN ' WITH INHERIT TRUE, SET FALSE' ELSE '' END,
                       login_name, current_user);
      END IF;
      RETURN NEXT;
    END`,
  ),
  definer(
    `own_make_team(team_name text, first_person text, machine_name text, verifier text, first_number bigint)
       RETURNS TABLE (login_name name) LANGUAGE plpgsql`,
    `DECLARE
      made integer;
      admin integer;
    BEGIN
      INSERT INTO team (name) VALUES (team_name) ON CONFLICT DO NOTHING RETURNING id INTO made;
      IF made IS NULL THEN
        ${refuse('invalid', 'there is a team of this name in the database already', 'Ask an admin of it for an invitation, or choose another name.')}
      END IF;
      INSERT INTO team_clock (team) VALUES (made);
      INSERT INTO index_state VALUES (made, gen_random_uuid()::text, first_number, first_number - 1);
      INSERT INTO person (team, name, role) VALUES (made, first_person, 'admin') RETURNING id INTO admin;
      RETURN QUERY SELECT m.login_name FROM own_make_machine(made, admin, verifier, NULL, machine_name) AS m;
    END`,
  ),
  definer(
    `invite_machine(person_name text, wanted_role text, verifier text)
       RETURNS TABLE (login_name name, expires_at timestamptz) LANGUAGE plpgsql`,
    `DECLARE
      meant person;
    BEGIN
      IF my_team() IS NULL THEN ${REFUSE_STRANGERS} END IF;
      SELECT * INTO meant FROM person WHERE team = my_team() AND name = person_name FOR UPDATE;
      IF my_role() <> 'admin' AND meant.id IS DISTINCT FROM my_person() THEN
        ${refuse('notAllowed', 'only an admin may invite somebody else', 'Ask one of them. A further machine of your own you may invite yourself.')}
      END IF;
      IF meant.id IS NULL THEN
        INSERT INTO person (team, name, role) VALUES (my_team(), person_name, coalesce(wanted_role, 'member'))
        RETURNING * INTO meant;
      ELSIF meant.removed_at IS NOT NULL THEN
        UPDATE person SET removed_at = NULL, role = coalesce(wanted_role, person.role)
        WHERE person.team = meant.team AND person.id = meant.id;
      END IF;
      expires_at := now() + interval '7 days';
      SELECT m.login_name INTO login_name
      FROM own_make_machine(meant.team, meant.id, verifier, expires_at, NULL) AS m;
      RETURN NEXT;
    END`,
  ),
  definer(
    'join_team(machine_name text, verifier text) RETURNS void LANGUAGE plpgsql',
    `DECLARE
      meant origin;
      login_name name := session_user;
    BEGIN
      ${CHECK_VERIFIER}
      SELECT origin.* INTO meant FROM login JOIN origin ON origin.team = login.team AND origin.id = login.origin
        JOIN person ON person.team = origin.team AND person.id = origin.owner AND person.removed_at IS NULL
      WHERE login.name = session_user AND origin.revoked_at IS NULL FOR UPDATE OF origin;
      IF NOT FOUND THEN ${REFUSE_STRANGERS} END IF;
      IF meant.joined_at IS NOT NULL THEN
        ${refuse('notAllowed', 'a machine has joined with this invitation already', 'An invitation is good once: ask for another one.')}
      END IF;
      IF meant.expires_at < now() THEN
        ${refuse('notAllowed', 'this invitation is too old', 'An invitation is good for a week: ask for another one.')}
      END IF;
      UPDATE origin SET machine = machine_name, joined_at = now(), seen_at = now(), expires_at = NULL
      WHERE team = meant.team AND id = meant.id;
      EXECUTE format('ALTER ROLE %I PASSWORD %L VALID UNTIL ''infinity''', login_name, verifier);
      -- Whoever else came in with it is somebody who should not have had it.
      ${END_CONNECTIONS}
    END`,
  ),
  definer(
    'own_revoke(of_team integer, of_origin integer) RETURNS void LANGUAGE plpgsql',
    `DECLARE
      login_name name;
    BEGIN
      UPDATE origin SET revoked_at = coalesce(revoked_at, now()) WHERE team = of_team AND id = of_origin;
      FOR login_name IN SELECT name FROM login WHERE team = of_team AND origin = of_origin LOOP
        EXECUTE format('ALTER ROLE %I NOLOGIN', login_name);
        ${END_CONNECTIONS}
      END LOOP;
    END`,
  ),
  definer(
    'revoke_machine(machine_key text) RETURNS void LANGUAGE plpgsql',
    `DECLARE
      meant origin;
    BEGIN
      IF my_team() IS NULL THEN ${REFUSE_STRANGERS} END IF;
      SELECT * INTO meant FROM origin WHERE team = my_team() AND key = machine_key
        AND (owner = my_person() OR my_role() = 'admin');
      IF NOT FOUND THEN
        ${refuse('invalid', 'there is no such machine among yours', 'Machines are as `throughline team status` has them. Only an admin may revoke those of others.')}
      END IF;
      PERFORM own_revoke(meant.team, meant.id);
    END`,
  ),
  definer(
    'set_role(person_name text, wanted_role text) RETURNS void LANGUAGE plpgsql',
    `DECLARE
      meant person;
    BEGIN
      IF my_team() IS NULL THEN ${REFUSE_STRANGERS} END IF;
      IF my_role() <> 'admin' THEN ${ADMINS_ONLY} END IF;
      ${FIND_PERSON}
      IF wanted_role <> 'admin' THEN ${LAST_ADMIN} END IF;
      UPDATE person SET role = wanted_role WHERE team = meant.team AND id = meant.id;
    END`,
  ),
  definer(
    'remove_person(person_name text) RETURNS void LANGUAGE plpgsql',
    `DECLARE
      meant person;
    BEGIN
      IF my_team() IS NULL THEN ${REFUSE_STRANGERS} END IF;
      ${FIND_PERSON}
      IF my_role() <> 'admin' AND meant.id <> my_person() THEN ${ADMINS_ONLY} END IF;
      ${LAST_ADMIN}
      PERFORM own_revoke(meant.team, origin.id) FROM origin
      WHERE origin.team = meant.team AND origin.owner = meant.id AND revoked_at IS NULL;
      UPDATE person SET removed_at = now() WHERE team = meant.team AND id = meant.id;
    END`,
  ),
  `CREATE OR REPLACE TRIGGER told AFTER INSERT OR UPDATE OR DELETE ON share
     FOR EACH ROW EXECUTE FUNCTION own_share_changed();`,
  `CREATE OR REPLACE TRIGGER told AFTER UPDATE ON person
     FOR EACH ROW WHEN (OLD.role IS DISTINCT FROM NEW.role OR OLD.removed_at IS DISTINCT FROM NEW.removed_at)
     EXECUTE FUNCTION own_access_changed();`,
].join('\n')
