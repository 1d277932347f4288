export { findRecordings } from './layout.ts'
export { answerEntire } from './entire-agent.ts'
export type { EntireAgentOptions } from './entire-agent.ts'
export { finishRecordings } from './finish.ts'
export type { FinishedRecording } from './finish.ts'
export { openRecording } from './open-recording.ts'
export { readRegister } from './register.ts'
export type { Recording, RecordingOptions } from './recording.ts'
export type { AssistantMessage, Content, Provider, RecordedTurn, ToolResult, TurnFacts } from './turn.ts'
export type { Answer, AnswerReader, Api } from './streams/answer.ts'
export { createAnswerReader } from './streams/answer-reader.ts'
export type { ResponseFacts } from './streams/answer-reader.ts'
export { createAnswerListener } from './streams/answer-listener.ts'
export type { AnswerListener, ListenerFacts } from './streams/answer-listener.ts'
export type { ModelRequest, RequestTurn } from './streams/model-request.ts'
export { findApi, findRequestId } from './streams/provider-api.ts'
export { readModelRequest } from './streams/request-reader.ts'
export { turnKey } from './streams/turn-key.ts'
export {
  recordAnswer,
  recordAnthropicStream,
  recordChatStream,
  recordGeminiStream,
  recordResponsesStream,
} from './streams/record-stream.ts'
export type { AnswerTaker, RecordedStream, StreamOptions, StreamRecorder } from './streams/record-stream.ts'
export { recordFetch } from './streams/record-fetch.ts'
export type { Fetch, RecordFetchOptions, RecordingFetch } from './streams/record-fetch.ts'
export { createConversations } from './proxy/conversations.ts'
export type { Conversations, ConversationsOptions, Exchange } from './proxy/conversations.ts'
export type {
  ConversationFacts,
  ConversationHint,
  ConversationView,
  RepeatedLine,
  Tokens,
  Trouble,
} from './proxy/conversation-facts.ts'
export { openProxy } from './proxy/proxy.ts'
export type { Proxy, ProxyCounts, ProxyOptions } from './proxy/proxy.ts'
export { createProxyRecordings } from './proxy/proxy-recordings.ts'
export type { ProxyRecordings, ProxyRecordingsOptions } from './proxy/proxy-recordings.ts'
export { DEFAULT_UPSTREAMS, getUpstream } from './proxy/routes.ts'
export type { Upstreams } from './proxy/routes.ts'
export { createAgentsSession } from './adapters/agents-session.ts'
export type { AgentsSession } from './adapters/agents-session.ts'
export { recordAnthropic, recordOpenAI } from './adapters/record-client.ts'
export type { ClientWithFetch, RecordClientOptions, RecordedClient } from './adapters/record-client.ts'
export { recordMiddleware } from './adapters/record-middleware.ts'
export type { RecordingMiddleware, RecordMiddlewareOptions } from './adapters/record-middleware.ts'
export { createSessionStore } from './adapters/session-store.ts'
export type {
  FileSessionStore,
  SessionStoreEntry,
  SessionStoreKey,
  SessionStoreOptions,
} from './adapters/session-store.ts'
