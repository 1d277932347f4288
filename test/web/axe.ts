import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { list, string } from '#base'

const AXE = readFileSync(join(import.meta.dirname, '../../node_modules/axe-core/axe.min.js'), 'utf8')

/** What axe calls serious or worse on a page, and whether it is wider than its screen: one line each. */
export async function findAxeFaults(page: Page, within?: string): Promise<readonly string[]> {
  await page.evaluate(AXE)
  const report: unknown = await page.evaluate(
    `axe.run(${JSON.stringify(within ?? 'html')}, { resultTypes: ['violations'] })`,
  )
  const found = list(report, 'violations')
    .filter((one) => ['serious', 'critical'].includes(string(one, 'impact') ?? ''))
    .flatMap((one) =>
      list(one, 'nodes')
        .slice(0, 3)
        .map(
          (node) =>
            `${string(one, 'id')}: ${String(list(node, 'target')[0])}: ${string(node, 'failureSummary')?.slice(0, 300)}`,
        ),
    )
  const isWide = await page.evaluate(() => globalThis.document.documentElement.scrollWidth > innerWidth + 1)
  return isWide ? [...found, 'wider than the screen'] : found
}
