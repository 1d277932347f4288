import type { FinishedRecording } from '#recorder'
import { getWorkdir } from './folder-report.ts'
import type { Config } from './throughline.ts'

/**
 * Brings the recordings of a folder whose writers were killed into the state they would have, had they ended. Only
 * when somebody asks for it: nobody else writes into folders of other people's work.
 */
export async function finishRecordingsIn(
  folder: string,
  config: Config,
): Promise<readonly FinishedRecording[]> {
  const cwd = await getWorkdir(folder, config)
  const { finishRecordings } = await import('#recorder')
  return await finishRecordings(cwd)
}
