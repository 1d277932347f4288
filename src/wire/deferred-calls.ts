/** Calls that all give a promise. */
type Promising<Calls> = { readonly [Name in keyof Calls]: (...args: never[]) => Promise<unknown> }

/** Calls for those who may never make one: whatever they need is loaded or opened with the first. */
export function deferCalls<Calls extends Promising<Calls>>(open: () => Promise<Calls>): Calls {
  const nothing: object = {}
  // A list of all their names would be the larger part of it in a browser.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has whatever `open` gives
  return new Proxy(nothing, {
    get(_target, name) {
      // Whoever awaits it awaits no call.
      if (name === 'then') return undefined
      return async (...args: readonly unknown[]): Promise<unknown> => {
        const calls = await open()
        const call: unknown = Reflect.get(calls, name)
        if (typeof call !== 'function') throw new TypeError(`there is no call ${String(name)}`)
        return await Reflect.apply(call, calls, args)
      }
    },
  }) as Calls
}
