export { outlineOf } from './outline.ts'
