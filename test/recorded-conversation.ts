import { join } from 'node:path'
import type { Entry } from '#model'
import { openRecording, type Recording } from '#recorder'
import { formatOf, openTranscript, readConversation } from '#sources'
import { openTempDir } from '#testing'

/** Records a conversation in real files, ends the recording, and reads back what a model would be told of it. */
export async function recordConversation(
  write: (recording: Recording) => Promise<void>,
  large: 'lines' | 'blobs' = 'lines',
): Promise<readonly Entry[]> {
  const temp = await openTempDir()
  try {
    const register = join(temp.path, 'home')
    const recording = await openRecording({ cwd: temp.path, agent: 'own', version: '1', register, large })
    try {
      await write(recording)
    } finally {
      await recording.end()
    }
    const file = openTranscript(recording.path)
    try {
      return (await readConversation(file, formatOf(recording.path))).entries
    } finally {
      file.close()
    }
  } finally {
    await temp.remove()
  }
}
