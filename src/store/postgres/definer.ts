/**
 * A function of ours in the database, with the rights of the tables' owner and names that nobody can take over: it
 * looks in our schema alone, as it was when it was made. Everything that is given to it is judged in it.
 */
export function definer(head: string, body: string): string {
  return `CREATE OR REPLACE FUNCTION ${head} SECURITY DEFINER SET search_path FROM CURRENT AS $body$${body}$body$;`
}

/** What our functions say when they refuse, told to people as it is. */
export const REFUSALS = {
  /** Whoever asks is in no team. */
  stranger: 'TL001',
  notAllowed: 'TL002',
  invalid: 'TL003',
} as const

/** A statement of PL/pgSQL that refuses. */
export function refuse(code: keyof typeof REFUSALS, message: string, hint: string): string {
  return `RAISE EXCEPTION USING ERRCODE = '${REFUSALS[code]}', MESSAGE = ${literal(message)}, HINT = ${literal(hint)};`
}

/** The same for everybody who is in no team. */
export const REFUSE_STRANGERS: string = refuse(
  'stranger',
  'this login is in no team',
  'The machine was revoked, or has not joined yet. Ask an admin of the team for an invitation.',
)

/** The same for everybody who only looks. */
export const REFUSE_VIEWERS: string = refuse(
  'notAllowed',
  'who only looks writes nothing',
  'Ask an admin of the team to make you a member.',
)

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
