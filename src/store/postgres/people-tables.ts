/**
 * Who is in a team, with which machines, and what is shared with whom. A machine is an `origin`: one person on one
 * machine, with a login of its own, by which the database knows who asks.
 *
 * `session_workdir` has every folder that a session worked in: who shares a folder shares those sessions.
 * `session_reader` has who may read which session because of a share; not those with whom everything is shared.
 */
export const PEOPLE_TABLES: string = `
  CREATE TABLE team (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    access bigint NOT NULL DEFAULT 0
  );
  CREATE TABLE person (
    team integer NOT NULL,
    id integer GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    role text NOT NULL DEFAULT 'member' CHECK (role IN ('viewer', 'member', 'admin')),
    joined_at timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz,
    PRIMARY KEY (team, id),
    UNIQUE (team, name)
  );
  CREATE TABLE origin (
    team integer NOT NULL,
    id integer GENERATED ALWAYS AS IDENTITY,
    key text NOT NULL,
    machine text NOT NULL DEFAULT '',
    owner integer NOT NULL,
    expires_at timestamptz,
    joined_at timestamptz,
    seen_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (team, id),
    UNIQUE (team, key)
  );
  CREATE TABLE login (
    name name PRIMARY KEY,
    team integer NOT NULL,
    origin integer NOT NULL
  );
  CREATE TABLE share (
    team integer NOT NULL,
    owner integer NOT NULL,
    kind text NOT NULL CHECK (kind IN ('session', 'workdir', 'everything')),
    name text NOT NULL,
    reader integer NOT NULL,
    may text NOT NULL DEFAULT 'read' CHECK (may IN ('read', 'answer')),
    PRIMARY KEY (team, owner, kind, name, reader)
  );
  CREATE INDEX share_reader ON share (team, reader);
  CREATE TABLE session_workdir (
    team integer NOT NULL,
    owner integer NOT NULL,
    session text NOT NULL,
    workdir text NOT NULL,
    PRIMARY KEY (team, owner, session, workdir)
  );
  CREATE TABLE session_reader (
    team integer NOT NULL,
    owner integer NOT NULL,
    session text NOT NULL,
    reader integer NOT NULL,
    PRIMARY KEY (team, owner, session, reader)
  );
  CREATE INDEX session_reader_reader ON session_reader (team, reader);
`
