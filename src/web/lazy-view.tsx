import type { ComponentType, VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'

type Load<Props> = () => Promise<ComponentType<Props>>

/** A part of the app that is fetched when it is first shown. A `part` of a page takes no room until it is there. */
export function lazyView<Props extends object>(
  load: Load<Props>,
  what: 'page' | 'part' = 'page',
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return function LazyView(props: Props): VNode {
    const [View, setView] = useState<{ readonly component: ComponentType<Props> } | undefined>(
      loaded === undefined ? undefined : { component: loaded },
    )
    const [error, setError] = useState<Error | undefined>(undefined)
    useEffect(() => {
      if (View !== undefined) return
      void begin()
    }, [])

    async function begin(): Promise<void> {
      try {
        const component = await load()
        loaded = component
        setView({ component })
      } catch (cause) {
        setError(cause instanceof Error ? cause : new Error(String(cause)))
      }
    }

    if (View !== undefined) return <View.component {...props} />
    if (error !== undefined) {
      return (
        <div class="state" role="alert">
          <h2>This part of the app could not be loaded</h2>
          <p>{error.message}</p>
          <p>
            The daemon may have been updated meanwhile.{' '}
            <button type="button" class="button" onClick={() => location.reload()}>
              Load the page again
            </button>
          </p>
        </div>
      )
    }
    return <div class={what === 'page' ? 'state quiet' : ''} role="status" aria-label="Loading" />
  }
}
