export { startWeb } from './start.tsx'
