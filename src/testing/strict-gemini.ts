import { isObject, list, object, string } from '#base'

/** What generateContent refuses: roles in turns, a response for every call in the next content, names, signatures. */
export function findGeminiFaults(contents: readonly unknown[]): readonly string[] {
  const faults: string[] = []
  const fault = (at: number, what: string): number => faults.push(`contents.${at}: ${what}`)
  for (const [at, content] of contents.entries()) {
    const role = string(content, 'role')
    const parts = list(content, 'parts')
    if (role !== 'user' && role !== 'model') fault(at, `role ${String(role)}`)
    if (at > 0 && role === string(contents[at - 1], 'role')) fault(at, 'the same role twice')
    if (at === 0 && role === 'model') fault(at, 'the first content is not of a user')
    if (parts.length === 0) fault(at, 'no parts')
    for (const part of parts) for (const what of partFaults(part, role)) fault(at, what)
    // Of calls that are made together the first one carries the signature.
    const first = parts.find((part) => object(part, 'functionCall') !== undefined)
    if (first !== undefined && (string(first, 'thoughtSignature') ?? '') === '')
      fault(at, 'functionCall is missing a thought_signature')
    const calls = named(parts, 'functionCall')
    const before = at === 0 ? [] : named(list(contents[at - 1], 'parts'), 'functionCall')
    const responses = named(parts, 'functionResponse')
    if (JSON.stringify(responses.toSorted()) !== JSON.stringify(before.toSorted()))
      fault(at, `the number of function response parts is not that of the function calls: ${before.join()}`)
    if (calls.length > 0 && at === contents.length - 1) fault(at, 'calls that are never answered')
  }
  return faults
}

function named(parts: readonly unknown[], key: 'functionCall' | 'functionResponse'): readonly string[] {
  return parts.flatMap((part) => {
    const found = object(part, key)
    return found === undefined ? [] : [`${string(found, 'id') ?? ''} ${string(found, 'name') ?? ''}`]
  })
}

function partFaults(part: unknown, role: string | undefined): readonly string[] {
  if (!isObject(part)) return ['a part that is no object']
  if ('functionCall' in part) {
    const call = object(part, 'functionCall')
    return [
      ...(role === 'model' ? [] : ['a call of a user']),
      ...(/^[a-zA-Z_][\w.:-]{0,127}$/u.test(string(call, 'name') ?? '') ? [] : ['the name of a function']),
      ...(isObject(call?.['args']) ? [] : ['args']),
    ]
  }
  if ('functionResponse' in part) {
    const isObjectResponse = isObject(object(part, 'functionResponse')?.['response'])
    return [
      ...(role === 'user' ? [] : ['a response of the model']),
      ...(isObjectResponse ? [] : ['response']),
    ]
  }
  if ('inlineData' in part) {
    const data = object(part, 'inlineData')
    return (string(data, 'data') ?? '') === '' || (string(data, 'mimeType') ?? '') === ''
      ? ['inlineData']
      : []
  }
  if ('text' in part) {
    const isSigned = (string(part, 'thoughtSignature') ?? '') !== ''
    return string(part, 'text') === '' && !isSigned ? ['empty text'] : []
  }
  return ['executableCode', 'codeExecutionResult', 'fileData'].some((key) => key in part)
    ? []
    : ['an unknown part']
}
