import { mayWrite, toPolicies, type TableAccess } from './access.ts'
import { DESK_FUNCTIONS } from './desk-functions.ts'

/** Rows of a machine, seen by whoever may see the session. */
function toAccess(table: string): TableAccess {
  return {
    table,
    read: 'team = (SELECT my_team()) AND desk_may(owner, session, workdir) IS NOT NULL',
    write: mayWrite(table),
  }
}

/**
 * What is live, what machines ask of each other, and who holds what. Whoever asks is known by the login; nothing that a
 * client says about itself is believed. Times are those of the database alone.
 *
 * Rows of `live_session` are their machine's. Calls and leases are changed by functions only: each of their steps is
 * one that may be taken by whoever takes it, or it is not taken.
 */
export const DESK_TABLES: string = `
  CREATE TABLE live_session (
    team integer NOT NULL DEFAULT my_team(),
    origin integer NOT NULL DEFAULT my_origin(),
    session text NOT NULL,
    owner integer NOT NULL DEFAULT my_person(),
    workdir text NOT NULL,
    card bytea NOT NULL,
    view bytea,
    changed bigint NOT NULL,
    moved bigint NOT NULL,
    expires timestamptz NOT NULL,
    PRIMARY KEY (team, origin, session)
  );
  CREATE INDEX live_session_session ON live_session (team, session);
  CREATE TABLE session_author (
    team integer NOT NULL DEFAULT my_team(),
    origin integer NOT NULL DEFAULT my_origin(),
    session text NOT NULL,
    owner integer NOT NULL DEFAULT my_person(),
    workdir text NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (team, origin, session)
  );
  CREATE TABLE session_onward (
    team integer NOT NULL DEFAULT my_team(),
    origin integer NOT NULL,
    session text NOT NULL,
    agent text NOT NULL,
    to_origin integer NOT NULL DEFAULT my_origin(),
    to_session text NOT NULL,
    to_agent text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (team, origin, session, to_origin, to_session)
  );
  CREATE TABLE desk_call (
    team integer NOT NULL DEFAULT my_team(),
    id text NOT NULL,
    from_person integer NOT NULL DEFAULT my_person(),
    from_origin integer NOT NULL DEFAULT my_origin(),
    to_origin integer NOT NULL,
    session text NOT NULL,
    body bytea NOT NULL CHECK (length(body) <= 33554432),
    state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'taken', 'answered', 'withdrawn', 'refused')),
    run text,
    answer bytea,
    created timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires timestamptz NOT NULL,
    answered timestamptz,
    PRIMARY KEY (team, id)
  );
  CREATE INDEX desk_call_open ON desk_call (team, to_origin) WHERE state IN ('open', 'taken');
  CREATE TABLE lease (
    team integer NOT NULL,
    session text NOT NULL,
    origin integer NOT NULL,
    owner integer NOT NULL,
    expires timestamptz NOT NULL,
    contender integer,
    contended timestamptz,
    PRIMARY KEY (team, session)
  );

  ${DESK_FUNCTIONS}

  ALTER TABLE live_session ENABLE ROW LEVEL SECURITY;
  ALTER TABLE session_author ENABLE ROW LEVEL SECURITY;
  ${toPolicies(['live_session', 'session_author'].map(toAccess))}

  ALTER TABLE session_onward ENABLE ROW LEVEL SECURITY;
  CREATE POLICY may_read ON session_onward FOR SELECT
    USING (team = (SELECT my_team()) AND (SELECT my_origin()) IN (origin, to_origin));
  CREATE POLICY may_make ON session_onward FOR INSERT
    WITH CHECK (team = (SELECT my_team()) AND to_origin = (SELECT my_origin()) AND EXISTS (
      SELECT 1 FROM log_file WHERE log_file.team = session_onward.team AND log_file.origin = session_onward.origin
        AND log_file.session = session_onward.session));

  ALTER TABLE desk_call ENABLE ROW LEVEL SECURITY;
  CREATE POLICY may_read ON desk_call FOR SELECT
    USING (team = my_team() AND (from_origin = my_origin() OR to_origin = my_origin()));
  CREATE POLICY may_make ON desk_call FOR INSERT
    WITH CHECK (team = my_team() AND from_person = my_person() AND from_origin = my_origin()
      AND state = 'open' AND answer IS NULL AND run IS NULL AND desk_may_call(to_origin, session)
      AND created <= clock_timestamp() AND expires < clock_timestamp() + interval '10 minutes');

  ALTER TABLE lease ENABLE ROW LEVEL SECURITY;
  CREATE POLICY may_read ON lease FOR SELECT USING (team = my_team() AND origin = my_origin());
`
