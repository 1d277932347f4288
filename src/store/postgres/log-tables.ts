/**
 * The shared copy of everybody's logs. Every key begins with the team, so that tables can be spread over many servers
 * by it. Bytes are `bytea`: no other type takes every byte.
 *
 * A line is known by where it stands (file, offset) and what it is (hash): sent twice, it is there once. Lines that
 * were sent together are a batch; batches are numbered by `team_clock`, whose row is held from the moment a number is
 * given until the transaction ends. So numbers become visible in their order, whoever commits first.
 *
 * A long line is a blob, once for the team. `blob_holder` says who has sent all of it: only he can have a line of it.
 */
export const LOG_TABLES: string = `
  CREATE TABLE team_clock (team integer PRIMARY KEY, last bigint NOT NULL DEFAULT 0) WITH (fillfactor = 10);
  CREATE TABLE log_file (
    team integer NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    origin integer NOT NULL,
    key bytea NOT NULL,
    path_key bytea NOT NULL,
    identity text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('transcript', 'side', 'journal', 'document', 'name', 'audit')),
    path text NOT NULL,
    agent text,
    session text,
    workdir text,
    place text,
    remote text,
    size bigint NOT NULL DEFAULT 0,
    owner integer NOT NULL,
    scope text NOT NULL DEFAULT 'private' CHECK (scope IN ('private', 'workdir', 'team')),
    PRIMARY KEY (team, id),
    UNIQUE (team, origin, key)
  ) WITH (fillfactor = 70);
  CREATE INDEX log_file_path ON log_file (team, origin, path_key);
  CREATE INDEX log_file_owner ON log_file (team, owner);
  CREATE INDEX log_file_session ON log_file (team, session);
  CREATE INDEX log_file_open ON log_file (team, owner) WHERE scope = 'team';
  CREATE TABLE blob (
    team integer NOT NULL,
    hash bytea NOT NULL,
    length bigint NOT NULL,
    PRIMARY KEY (team, hash)
  );
  CREATE TABLE blob_piece (
    team integer NOT NULL,
    hash bytea NOT NULL,
    number integer NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (team, hash, number)
  );
  CREATE TABLE blob_holder (
    team integer NOT NULL,
    hash bytea NOT NULL,
    owner integer NOT NULL,
    PRIMARY KEY (team, hash, owner)
  );
  CREATE TABLE blob_upload (
    team integer NOT NULL,
    owner integer NOT NULL,
    origin integer NOT NULL,
    hash bytea NOT NULL,
    number integer NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (team, origin, hash, number)
  );
  CREATE SEQUENCE log_batch_id;
  CREATE TABLE log_batch (
    team integer NOT NULL,
    last bigint NOT NULL,
    first bigint NOT NULL,
    id bigint NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (team, last)
  );
  CREATE TABLE log_line (
    team integer NOT NULL,
    position integer NOT NULL,
    file bigint NOT NULL,
    "offset" bigint NOT NULL,
    batch bigint NOT NULL,
    length bigint NOT NULL,
    hash bytea NOT NULL,
    bytes bytea,
    PRIMARY KEY (team, file, "offset", hash)
  );
  CREATE INDEX log_line_batch ON log_line (team, batch, position);
  CREATE INDEX log_line_blob ON log_line (team, hash) WHERE bytes IS NULL;
`
