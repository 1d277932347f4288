import { startWeb } from './start.tsx'

startWeb(document)
