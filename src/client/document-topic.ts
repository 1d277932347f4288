import { readDocumentQuery, type Topic } from '#wire'

type DocumentsTopic = Extract<Topic, { kind: 'documents' }>

/** The topic as the daemon reads it. Throws for a query that it could not read: that would cost the whole connection. */
export function toReadTopic(topic: DocumentsTopic): DocumentsTopic {
  return { kind: 'documents', query: readDocumentQuery(topic.query) }
}
