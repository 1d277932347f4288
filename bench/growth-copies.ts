import type { TeamPlace } from '#testing'

/** What is copied, and by how much numbers are moved for every copy. */
export interface CopyBase {
  readonly entries: number
  readonly highest: number
  readonly file: number
  readonly logFile: number
}

export async function readBase(place: TeamPlace): Promise<CopyBase> {
  const [row] = await place.say<Record<keyof CopyBase, string>>(
    `SELECT (SELECT count(*) FROM entry) AS entries, (SELECT max(id) FROM entry) AS highest,
            (SELECT max(id) FROM file) AS file, (SELECT max(id) FROM log_file) AS "logFile"`,
  )
  const of = (key: keyof CopyBase): number => Number(row?.[key] ?? 0)
  return { entries: of('entries'), highest: of('highest'), file: of('file'), logFile: of('logFile') }
}

/**
 * Copies rows as other sessions, in the server. Every entry has a word that no other has: ids and hashes are what
 * indexes grow by.
 */
export async function copyRows(place: TeamPlace, { highest, file, logFile }: CopyBase): Promise<void> {
  const [at] = await place.say<{ entry: string; file: string; log: string }>(
    `SELECT (SELECT max(id) FROM entry) AS entry, (SELECT max(id) FROM file) AS file,
            (SELECT max(id) FROM log_file) AS log`,
  )
  const [e, f, l] = [Number(at?.entry ?? 0), Number(at?.file ?? 0), Number(at?.log ?? 0)]
  await place.say(
    `INSERT INTO file OVERRIDING SYSTEM VALUE
     SELECT team, id + ${f}, owner, origin, kind, scope, workdir, sha256(key || int8send(${f})), path || '-${f}', agent,
            session || '-${f}', subagent, created, workdirs, "offset", guard, seen, fold, small_agent,
            small_session || '-${f}', small_workdirs, texts, words
     FROM file WHERE id <= ${file}`,
  )
  await place.say(
    `INSERT INTO entry SELECT team, id + ${e}, file + ${f}, "offset", length, at, kind, speaker, flags, tool, small_tool
     FROM entry WHERE id <= ${highest}`,
  )
  await place.say(
    `INSERT INTO entry_text
     SELECT team, entry + ${e}, file + ${f}, count + 1, tier, is_long, words || ' ' || own || ' ',
            CASE WHEN is_long THEN lexemes ELSE lexemes || array_to_tsvector(ARRAY[own]) END
     FROM (SELECT *, 'x' || md5(entry::text || ' ${e} ' || tier::text) AS own
           FROM entry_text WHERE entry <= ${highest}) AS one`,
  )
  await place.say(
    `INSERT INTO log_file OVERRIDING SYSTEM VALUE
     SELECT team, id + ${l}, origin, sha256(key || int8send(${l})), sha256(path_key || int8send(${l})), identity, kind,
            path || '-${l}', agent, session || '-${l}', workdir, place, remote, size, owner, scope
     FROM log_file WHERE id <= ${logFile}`,
  )
  await place.say(
    `INSERT INTO log_line
     SELECT team, position, file + ${l}, "offset", batch, length, sha256(hash || int8send(${l})), bytes
     FROM log_line WHERE file <= ${logFile}`,
  )
  await place.say(`UPDATE index_state SET highest = ${e + highest}`)
  await place.say(`SELECT setval(pg_get_serial_sequence('file', 'id'), (SELECT max(id) FROM file)),
                          setval(pg_get_serial_sequence('log_file', 'id'), (SELECT max(id) FROM log_file))`)
}
