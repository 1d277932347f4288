import type { LiveCalls, PendingAsk } from '#wire'
import type { Live } from './open-live.ts'

/** The calls on live sessions, for those who may never make one: what they need is opened with the first. */
export function deferLive(open: () => Promise<Live>): LiveCalls {
  const calls = async (): Promise<LiveCalls> => (await open()).calls
  return {
    agents: async () => await (await calls()).agents(),
    workdirs: async () => await (await calls()).workdirs(),
    folder: async (workdir) => await (await calls()).folder(workdir),
    trust: async (workdir, choice) => await (await calls()).trust(workdir, choice),
    start: async (request) => await (await calls()).start(request),
    resume: async (id, request) => await (await calls()).resume(id, request),
    fork: async (id, request) => await (await calls()).fork(id, request),
    renew: async (id, request) => await (await calls()).renew(id, request),
    end: async (id) => await (await calls()).end(id),
    interrupt: async (id) => await (await calls()).interrupt(id),
    prompt: async (id, prompt) => await (await calls()).prompt(id, prompt),
    setMode: async (id, mode, by) => await (await calls()).setMode(id, mode, by),
    setModel: async (id, model, by) => await (await calls()).setModel(id, model, by),
    view: async (id) => await (await calls()).view(id),
    board: async () => await (await calls()).board(),
    attentions: async () => await (await calls()).attentions(),
    resolve: async (answer) => await (await calls()).resolve(answer),
    audit: async (id) => await (await calls()).audit(id),
    audits: async () => await (await calls()).audits(),
    ask(request): PendingAsk {
      let isWithdrawn = false
      let asked: PendingAsk | undefined
      return {
        answer: (async () => {
          const opened = await calls()
          if (isWithdrawn) return undefined
          asked = opened.ask(request)
          return await asked.answer
        })(),
        withdraw() {
          isWithdrawn = true
          asked?.withdraw()
        },
      }
    },
  }
}
