export { AsideView } from './aside-view.tsx'
export { CommandView } from './command-view.tsx'
export { CompactionView } from './compaction-view.tsx'
export { DamageView, NoticeView, OrphanView } from './notice-view.tsx'
