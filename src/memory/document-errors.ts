import { ThroughlineError } from '#base'

export function notFound(id: string): ThroughlineError {
  return new ThroughlineError('document-not-found', `there is no document ${id}`, {
    hint: 'List the documents; retired ones are among them when asked for.',
  })
}

export function hasChanged(id: string): ThroughlineError {
  return new ThroughlineError('document-changed', `${id} was changed since it was read`, {
    hint: 'Read it again, then change it.',
  })
}

export function isCircle(id: string, newer: string): ThroughlineError {
  return new ThroughlineError('request-invalid', `${newer} was itself superseded by ${id}`, {
    hint: 'Restore one of the two first.',
  })
}

export function isClosed(): ThroughlineError {
  return new ThroughlineError('journal-closed', 'the documents were closed before the call', {
    hint: 'Open them again.',
  })
}
