/** Who asks, as SQL: in a policy by the login, in our own functions by what they have found out already. */
export interface Asking {
  readonly team: string
  readonly person: string
}

/** Whoever the connection belongs to. In brackets with SELECT, so that it is found out once for a statement. */
const BY_LOGIN: Asking = { team: '(SELECT my_team())', person: '(SELECT my_person())' }

/** The reader of a share that is for the whole team. */
export const EVERYBODY = 0

/**
 * The one place that says what a person may see: the condition on a row that says of itself `team`, `owner`, `kind`,
 * `scope`, `session` and `workdir`, as `log_file` does, and `file` in the index. Everything else belongs to a file and
 * is reached through it. What somebody keeps for himself, documents above all, is opened by no share of a session.
 *
 * Which sessions a share opens is kept in `session_reader`, as it changes: to look at shares for each row, or to write
 * the condition out, which is planned anew with every statement, takes many times as long as to read.
 */
export function mayRead(row: string, by: Asking & { readonly open?: string } = BY_LOGIN): string {
  return `${row}.team = ${by.team} AND (
    ${row}.owner = ${by.person}
    OR ${row}.scope = 'team'
    OR (${row}.kind NOT IN ('document', 'audit') AND (
      ${row}.owner = ANY(${by.open ?? '(SELECT my_open_sharers())'}::integer[])
      OR EXISTS (SELECT 1 FROM session_reader AS r WHERE r.team = ${row}.team AND r.owner = ${row}.owner
                   AND r.session = ${row}.session AND r.reader IN (${by.person}, ${EVERYBODY}))))
    OR (${row}.kind IN ('document', 'audit') AND ${row}.scope = 'workdir'
      AND is_shared(${row}.owner, ${row}.session, ${row}.workdir)))`
}

const sharers = (which: string): string =>
  `SELECT coalesce(array_agg(DISTINCT owner), '{}') FROM share
   WHERE share.team = my_team() AND share.reader IN (my_person(), ${EVERYBODY}) AND ${which}`

/** What policies ask, as text for `definer`: who shares anything, and everything, with whoever asks; whether this. */
export const SHARE_FUNCTIONS: readonly (readonly [head: string, body: string])[] = [
  ['my_sharers() RETURNS integer[] LANGUAGE sql STABLE', sharers('true')],
  ['my_open_sharers() RETURNS integer[] LANGUAGE sql STABLE', sharers("share.kind = 'everything'")],
  [
    // In PL/pgSQL, which keeps its plan.
    'is_shared(of_owner integer, of_session text, of_workdir text) RETURNS boolean LANGUAGE plpgsql STABLE',
    `BEGIN
      RETURN (SELECT ${isShared('asked', { by: { team: 'asked.team', person: 'asked.person' } })}
        FROM (SELECT my_team() AS team, my_person() AS person, of_owner AS owner, of_session AS session,
                     of_workdir AS workdir OFFSET 0) AS asked);
    END`,
  ],
  [
    // Whoever changes one of the two waits for whoever changes the other: neither would see what the other does.
    'own_share_sessions(of_team integer, of_owner integer, of_reader integer) RETURNS void LANGUAGE plpgsql',
    `BEGIN
      PERFORM 1 FROM person WHERE team = of_team AND id = of_owner FOR NO KEY UPDATE;
      DELETE FROM session_reader WHERE team = of_team AND owner = of_owner AND reader = of_reader;
      INSERT INTO session_reader
      SELECT of_team, of_owner, opened.session, of_reader FROM (
        SELECT share.name AS session FROM share
        WHERE share.team = of_team AND share.owner = of_owner AND share.reader = of_reader AND share.kind = 'session'
        UNION
        SELECT worked.session FROM share JOIN session_workdir AS worked
          ON worked.team = share.team AND worked.owner = share.owner AND ${covers('worked.workdir')}
        WHERE share.team = of_team AND share.owner = of_owner AND share.reader = of_reader AND share.kind = 'workdir'
      ) AS opened;
    END`,
  ],
  [
    'own_note_workdir(of_team integer, of_owner integer, of_session text, of_workdir text) RETURNS void LANGUAGE plpgsql',
    `BEGIN
      IF EXISTS (SELECT 1 FROM session_workdir WHERE team = of_team AND owner = of_owner AND session = of_session
                   AND workdir = of_workdir) THEN RETURN; END IF;
      PERFORM 1 FROM person WHERE team = of_team AND id = of_owner FOR NO KEY UPDATE;
      -- A session that goes on in another folder may be seen by others from now on, with all that it had.
      IF EXISTS (SELECT 1 FROM session_workdir WHERE team = of_team AND owner = of_owner AND session = of_session) THEN
        PERFORM own_tell_access(of_team);
      END IF;
      INSERT INTO session_workdir VALUES (of_team, of_owner, of_session, of_workdir) ON CONFLICT DO NOTHING;
      INSERT INTO session_reader SELECT of_team, of_owner, of_session, share.reader FROM share
      WHERE share.team = of_team AND share.owner = of_owner AND share.kind = 'workdir' AND ${covers('of_workdir')}
      ON CONFLICT DO NOTHING;
    END`,
  ],
]

interface SharedOptions {
  readonly by?: Asking | undefined
  /** Only what may also be answered, and talked to. */
  readonly may?: 'answer' | undefined
}

/**
 * Whether something is shared with whoever asks: a row that says `team`, `owner`, `session` and `workdir`. A workdir
 * is shared with everything below it, and with every session that worked in it.
 */
export function isShared(row: string, { by = BY_LOGIN, may }: SharedOptions = {}): string {
  return `EXISTS (
      SELECT 1 FROM share WHERE ${isFor(row, by)}${may === undefined ? '' : ` AND share.may = '${may}'`}
        AND (share.kind = 'everything'
          OR (share.kind = 'session' AND share.name = ${row}.session)
          OR (share.kind = 'workdir' AND (${covers(`${row}.workdir`)} OR EXISTS (
            SELECT 1 FROM session_workdir AS worked
            WHERE worked.team = ${row}.team AND worked.owner = ${row}.owner AND worked.session = ${row}.session
              AND ${covers('worked.workdir')})))))`
}

function isFor(row: string, { person }: Asking): string {
  return `share.team = ${row}.team AND share.owner = ${row}.owner AND share.reader IN (${person}, ${EVERYBODY})`
}

/** A folder, and what is below it. Names of shares end without a slash. */
function covers(workdir: string): string {
  return `(${workdir} = share.name OR starts_with(${workdir}, share.name || '/') OR starts_with(${workdir}, share.name || '\\'))`
}

/** What a person may write to: what is his, from the machine he writes on. Who only looks writes nothing. */
export function mayWrite(row: string): string {
  return `${row}.team = (SELECT my_team()) AND ${row}.owner = (SELECT my_person())
    AND ${row}.origin = (SELECT my_origin()) AND (SELECT my_role()) <> 'viewer'`
}

/** A row of something that belongs to a file of the index. */
const ofFile = (row: string, condition = 'true'): string =>
  `EXISTS (SELECT 1 FROM file WHERE file.team = ${row}.team AND file.id = ${row}.file AND ${condition})`

const ofTeam = (column: string): string => `${column} = (SELECT my_team())`
const isMine = (row: string): string => `${ofTeam(`${row}.team`)} AND ${row}.owner = (SELECT my_person())`

/** Who may do what with the rows of a table. What is not said, nobody may; functions of ours may do more. */
export interface TableAccess {
  readonly table: string
  readonly read?: string
  /** Changes and takes away. */
  readonly write?: string
  /** What was written stays. */
  readonly stays?: true
  /** What is asked of a row that is made, beside that; `nobody`: rows are made by functions of ours. */
  readonly make?: string
}

const ACCESS: readonly TableAccess[] = [
  { table: 'migration', read: 'true' },
  { table: 'team', read: ofTeam('team.id') },
  { table: 'team_clock', read: ofTeam('team_clock.team') },
  { table: 'person', read: ofTeam('person.team') },
  {
    table: 'origin',
    // Of others, the machines of those who let one see something.
    read: `${ofTeam('origin.team')} AND (
      origin.owner = (SELECT my_person()) OR (SELECT my_role()) = 'admin'
      OR origin.owner = ANY((SELECT my_sharers())::integer[])
      OR EXISTS (SELECT 1 FROM log_file WHERE log_file.team = origin.team AND log_file.owner = origin.owner
                   AND log_file.scope = 'team'))`,
  },
  {
    table: 'share',
    read: `${ofTeam('share.team')} AND (
      share.owner = (SELECT my_person()) OR share.reader IN ((SELECT my_person()), ${EVERYBODY}))`,
    write: `${isMine('share')} AND (SELECT my_role()) <> 'viewer'`,
    make: `(share.reader = ${EVERYBODY}
      OR EXISTS (SELECT 1 FROM person WHERE person.team = share.team AND person.id = share.reader))`,
  },
  {
    table: 'session_workdir',
    read: `${ofTeam('session_workdir.team')} AND (
      session_workdir.owner = (SELECT my_person())
      OR (session_workdir.owner = ANY((SELECT my_sharers())::integer[])
        AND is_shared(session_workdir.owner, session_workdir.session, session_workdir.workdir)))`,
  },
  {
    table: 'session_reader',
    read: `${ofTeam('session_reader.team')} AND (session_reader.owner = (SELECT my_person())
      OR session_reader.reader IN ((SELECT my_person()), ${EVERYBODY}))`,
  },
  { table: 'log_file', read: mayRead('log_file'), write: mayWrite('log_file'), stays: true },
  {
    table: 'log_line',
    read: `${ofTeam('log_line.team')} AND EXISTS (
      SELECT 1 FROM log_file WHERE log_file.team = log_line.team AND log_file.id = log_line.file)`,
  },
  ...['blob', 'blob_piece'].map((table) => ({
    table,
    // To know its name is not enough: one must see a line that is it.
    read: `${ofTeam(`${table}.team`)} AND EXISTS (
      SELECT 1 FROM log_line WHERE log_line.team = ${table}.team AND log_line.hash = ${table}.hash
        AND log_line.bytes IS NULL)`,
  })),
  { table: 'blob_holder', read: isMine('blob_holder') },
  {
    table: 'blob_upload',
    read: `${isMine('blob_upload')} AND blob_upload.origin = (SELECT my_origin())`,
    write: mayWrite('blob_upload'),
  },
  { table: 'index_state', read: ofTeam('index_state.team') },
  { table: 'file', read: mayRead('file'), write: mayWrite('file'), make: 'nobody' },
  ...['entry', 'entry_text', 'bill'].map((table) => ({
    table,
    read: `${ofTeam(`${table}.team`)} AND ${ofFile(table)}`,
    write: `${ofTeam(`${table}.team`)} AND ${ofFile(table, mayWrite('file'))}`,
    make: table === 'bill' ? 'true' : 'nobody',
  })),
]

/** Conditions as policies of the database. */
export function toPolicies(access: readonly TableAccess[]): string {
  return access
    .flatMap(({ table, read, write, make, stays }) => {
      const policies: string[] = []
      if (read !== undefined) policies.push(`CREATE POLICY may_read ON ${table} FOR SELECT USING (${read});`)
      if (write === undefined) return policies
      const made = make === undefined || make === 'nobody' ? write : `${write} AND ${make}`
      if (make !== 'nobody')
        policies.push(`CREATE POLICY may_make ON ${table} FOR INSERT WITH CHECK (${made});`)
      policies.push(`CREATE POLICY may_change ON ${table} FOR UPDATE USING (${write}) WITH CHECK (${made});`)
      if (stays === undefined)
        policies.push(`CREATE POLICY may_remove ON ${table} FOR DELETE USING (${write});`)
      return policies
    })
    .join('\n')
}

/** Those of the tables of the log, the book and the index. */
export const POLICIES: string = toPolicies(ACCESS)
