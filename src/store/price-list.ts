import type { PriceList } from '#wire'

/** Whose prices these are, and of which day. */
export const PRICE_SOURCE: PriceList = {
  source: 'LiteLLM (Claude, OpenAI) and models.dev (Gemini), as published with ccusage 20.0.24',
  dated: '2026-09-22',
}

/**
 * US dollars for a million tokens: input, output, read from the cache, written to the cache for five minutes; then the
 * same beyond the first 200,000 tokens where that differs. `-`: the list has no price of its own.
 *
 * The date is the day on which that package was published; the lists in it may be a little older.
 */
export const PRICES: string = `
anthropic.claude-3-5-haiku-20241022-v1:0 0.8 4 0.08 1
anthropic.claude-3-5-sonnet-20240620-v1:0 3 15 0.3 3.75 6 30 0.6 7.5
anthropic.claude-3-5-sonnet-20241022-v2:0 3 15 0.3 3.75 6 30 0.6 7.5
anthropic.claude-3-7-sonnet-20240620-v1:0 3.6 18 0.36 4.5
anthropic.claude-3-7-sonnet-20250219-v1:0 3 15 0.3 3.75
anthropic.claude-3-haiku-20240307-v1:0 0.25 1.25 0.025 0.3125
anthropic.claude-3-opus-20240229-v1:0 15 75 1.5 18.75
anthropic.claude-3-sonnet-20240229-v1:0 3 15 0.3 3.75
anthropic.claude-fable-5 10 50 1 12.5
anthropic.claude-fable-5-1 10 50 0.25 12.5
anthropic.claude-haiku-4-5-20251001-v1:0 1 5 0.1 1.25
anthropic.claude-haiku-4-5@20251001 1 5 0.1 1.25
anthropic.claude-instant-v1 0.8 2.4 -
anthropic.claude-opus-4-1-20250805-v1:0 15 75 1.5 18.75
anthropic.claude-opus-4-20250514-v1:0 15 75 1.5 18.75
anthropic.claude-opus-4-5-20251101-v1:0 5 25 0.5 6.25
anthropic.claude-opus-4-6-v1 5 25 0.5 6.25
anthropic.claude-opus-4-7 5 25 0.5 6.25
anthropic.claude-opus-4-8 5 25 0.5 6.25
anthropic.claude-opus-5 5 25 0.5 6.25
anthropic.claude-sonnet-4-20250514-v1:0 3 15 0.3 3.75 6 22.5 0.6 7.5
anthropic.claude-sonnet-4-5-20250929-v1:0 3 15 0.3 3.75 6 22.5 0.6 7.5
anthropic.claude-sonnet-4-6 3 15 0.3 3.75
anthropic.claude-sonnet-5 2 10 0.2 2.5
anthropic.claude-v1 8 24 -
anthropic.claude-v2:1 8 24 -
au.anthropic.claude-haiku-4-5-20251001-v1:0 1.1 5.5 0.11 1.375
au.anthropic.claude-opus-4-6-v1 5.5 27.5 0.55 6.875
au.anthropic.claude-opus-4-7 5.5 27.5 0.55 6.875
au.anthropic.claude-opus-4-8 5.5 27.5 0.55 6.875
au.anthropic.claude-opus-5 5.5 27.5 0.55 6.875
au.anthropic.claude-sonnet-4-5-20250929-v1:0 3.3 16.5 0.33 4.125 6.6 24.75 0.66 8.25
au.anthropic.claude-sonnet-4-6 3.3 16.5 0.33 4.125
au.anthropic.claude-sonnet-5 2.2 11 0.22 2.75
claude-3-7-sonnet-20250219 3 15 0.3 3.75
claude-3-haiku-20240307 0.25 1.25 0.03 0.3
claude-3-opus-20240229 15 75 1.5 18.75
claude-4-opus-20250514 15 75 1.5 18.75
claude-4-sonnet-20250514 3 15 0.3 3.75 6 22.5 0.6 7.5
claude-fable-5 10 50 1 12.5
claude-fable-5-1 10 50 0.25 12.5
claude-haiku-4-5 1 5 0.1 1.25
claude-haiku-4-5-20251001 1 5 0.1 1.25
claude-mythos-5 10 50 1 12.5
claude-mythos-5-1 10 50 0.25 12.5
claude-mythos-preview 10 50 1 12.5
claude-opus-4-1 15 75 1.5 18.75
claude-opus-4-1-20250805 15 75 1.5 18.75
claude-opus-4-20250514 15 75 1.5 18.75
claude-opus-4-5 5 25 0.5 6.25
claude-opus-4-5-20251101 5 25 0.5 6.25
claude-opus-4-6 5 25 0.5 6.25
claude-opus-4-6-20260205 5 25 0.5 6.25
claude-opus-4-7 5 25 0.5 6.25
claude-opus-4-7-20260416 5 25 0.5 6.25
claude-opus-4-8 5 25 0.5 6.25
claude-opus-5 5 25 0.5 6.25
claude-sonnet-4-20250514 3 15 0.3 3.75 6 22.5 0.6 7.5
claude-sonnet-4-5 3 15 0.3 3.75 6 22.5 0.6 7.5
claude-sonnet-4-5-20250929 3 15 0.3 3.75 6 22.5 0.6 7.5
claude-sonnet-4-5-20250929-v1:0 3 15 0.3 3.75 6 22.5 0.6 7.5
claude-sonnet-4-6 3 15 0.3 3.75
claude-sonnet-5 2 10 0.2 2.5
eu.anthropic.claude-3-5-haiku-20241022-v1:0 0.8 4 0.08 1
eu.anthropic.claude-3-5-sonnet-20240620-v1:0 3 15 0.3 3.75
eu.anthropic.claude-3-5-sonnet-20241022-v2:0 3 15 0.3 3.75
eu.anthropic.claude-3-7-sonnet-20250219-v1:0 3 15 0.3 3.75
eu.anthropic.claude-3-haiku-20240307-v1:0 0.25 1.25 0.025 0.3125
eu.anthropic.claude-3-opus-20240229-v1:0 15 75 1.5 18.75
eu.anthropic.claude-3-sonnet-20240229-v1:0 3 15 0.3 3.75
eu.anthropic.claude-fable-5 11 55 1.1 13.75
eu.anthropic.claude-fable-5-1 11 55 0.275 13.75
eu.anthropic.claude-haiku-4-5-20251001-v1:0 1.1 5.5 0.11 1.375
eu.anthropic.claude-opus-4-1-20250805-v1:0 15 75 1.5 18.75
eu.anthropic.claude-opus-4-20250514-v1:0 15 75 1.5 18.75
eu.anthropic.claude-opus-4-5-20251101-v1:0 5 25 0.5 6.25
eu.anthropic.claude-opus-4-6-v1 5.5 27.5 0.55 6.875
eu.anthropic.claude-opus-4-7 5.5 27.5 0.55 6.875
eu.anthropic.claude-opus-4-8 5.5 27.5 0.55 6.875
eu.anthropic.claude-opus-5 5.5 27.5 0.55 6.875
eu.anthropic.claude-sonnet-4-20250514-v1:0 3 15 0.3 3.75 6 22.5 0.6 7.5
eu.anthropic.claude-sonnet-4-5-20250929-v1:0 3.3 16.5 0.33 4.125 6.6 24.75 0.66 8.25
eu.anthropic.claude-sonnet-4-6 3.3 16.5 0.33 4.125
eu.anthropic.claude-sonnet-5 2.2 11 0.22 2.75
global.anthropic.claude-fable-5 10 50 1 12.5
global.anthropic.claude-fable-5-1 10 50 0.25 12.5
global.anthropic.claude-haiku-4-5-20251001-v1:0 1 5 0.1 1.25
global.anthropic.claude-opus-4-5-20251101-v1:0 5 25 0.5 6.25
global.anthropic.claude-opus-4-6-v1 5 25 0.5 6.25
global.anthropic.claude-opus-4-7 5 25 0.5 6.25
global.anthropic.claude-opus-4-8 5 25 0.5 6.25
global.anthropic.claude-opus-5 5 25 0.5 6.25
global.anthropic.claude-sonnet-4-20250514-v1:0 3 15 0.3 3.75 6 22.5 0.6 7.5
global.anthropic.claude-sonnet-4-5-20250929-v1:0 3 15 0.3 3.75 6 22.5 0.6 7.5
global.anthropic.claude-sonnet-4-6 3 15 0.3 3.75
global.anthropic.claude-sonnet-5 2 10 0.2 2.5
gpt-4.1 2 8 0.5
gpt-4.1-2025-04-14 2 8 0.5
gpt-4.1-mini 0.4 1.6 0.1
gpt-4.1-mini-2025-04-14 0.4 1.6 0.1
gpt-4.1-nano 0.1 0.4 0.025
gpt-4.1-nano-2025-04-14 0.1 0.4 0.025
gpt-4o 2.5 10 1.25
gpt-4o-2024-05-13 5 15 -
gpt-4o-2024-08-06 2.5 10 1.25
gpt-4o-2024-11-20 2.5 10 1.25
gpt-4o-mini 0.15 0.6 0.075
gpt-4o-mini-2024-07-18 0.15 0.6 0.075
gpt-5 1.25 10 0.125
gpt-5-2025-08-07 1.25 10 0.125
gpt-5-chat 1.25 10 0.125
gpt-5-chat-latest 1.25 10 0.125
gpt-5-codex 1.25 10 0.125
gpt-5-mini 0.25 2 0.025
gpt-5-mini-2025-08-07 0.25 2 0.025
gpt-5-nano 0.05 0.4 0.005
gpt-5-nano-2025-08-07 0.05 0.4 0.005
gpt-5-pro 15 120 -
gpt-5-pro-2025-10-06 15 120 -
gpt-5.1 1.25 10 0.125
gpt-5.1-2025-11-13 1.25 10 0.125
gpt-5.1-chat-latest 1.25 10 0.125
gpt-5.1-codex 1.25 10 0.125
gpt-5.1-codex-max 1.25 10 0.125
gpt-5.1-codex-mini 0.25 2 0.025
gpt-5.2 1.75 14 0.175
gpt-5.2-2025-12-11 1.75 14 0.175
gpt-5.2-chat-latest 1.75 14 0.175
gpt-5.2-codex 1.75 14 0.175
gpt-5.2-pro 21 168 -
gpt-5.2-pro-2025-12-11 21 168 -
gpt-5.3-chat-latest 1.75 14 0.175
gpt-5.3-codex 1.75 14 0.175
gpt-5.4 2.5 15 0.25
gpt-5.4-2026-03-05 2.5 15 0.25
gpt-5.4-mini 0.75 4.5 0.075
gpt-5.4-mini-2026-03-17 0.75 4.5 0.075
gpt-5.4-nano 0.2 1.25 0.02
gpt-5.4-nano-2026-03-17 0.2 1.25 0.02
gpt-5.4-pro 30 180 -
gpt-5.4-pro-2026-03-05 30 180 -
gpt-5.5 5 30 0.5
gpt-5.5-2026-04-23 5 30 0.5
gpt-5.5-pro 30 180 -
gpt-5.5-pro-2026-04-23 30 180 -
gpt-5.6 4 20 0.4 5
gpt-5.6-luna 0.2 1.2 0.02 0.25
gpt-5.6-sol 4 20 0.4 5
gpt-5.6-terra 2 12 0.2 2.5
gpt-6-astra 10 50 1 12.5
gpt-daybreak-blue-latest 4 20 0.4 5
gpt-daybreak-red-latest 12.5 75 1.25 15.625
jp.anthropic.claude-haiku-4-5-20251001-v1:0 1.1 5.5 0.11 1.375
jp.anthropic.claude-opus-4-7 5.5 27.5 0.55 6.875
jp.anthropic.claude-opus-4-8 5.5 27.5 0.55 6.875
jp.anthropic.claude-opus-5 5.5 27.5 0.55 6.875
jp.anthropic.claude-sonnet-4-5-20250929-v1:0 3.3 16.5 0.33 4.125 6.6 24.75 0.66 8.25
jp.anthropic.claude-sonnet-4-6 3.3 16.5 0.33 4.125
jp.anthropic.claude-sonnet-5 2.2 11 0.22 2.75
us.anthropic.claude-3-5-haiku-20241022-v1:0 0.8 4 0.08 1
us.anthropic.claude-3-5-sonnet-20240620-v1:0 3 15 0.3 3.75
us.anthropic.claude-3-5-sonnet-20241022-v2:0 3 15 0.3 3.75
us.anthropic.claude-3-7-sonnet-20250219-v1:0 3 15 0.3 3.75
us.anthropic.claude-3-haiku-20240307-v1:0 0.25 1.25 0.025 0.3125
us.anthropic.claude-3-opus-20240229-v1:0 15 75 1.5 18.75
us.anthropic.claude-3-sonnet-20240229-v1:0 3 15 0.3 3.75
us.anthropic.claude-fable-5 11 55 1.1 13.75
us.anthropic.claude-fable-5-1 11 55 0.275 13.75
us.anthropic.claude-haiku-4-5-20251001-v1:0 1.1 5.5 0.11 1.375
us.anthropic.claude-opus-4-1-20250805-v1:0 15 75 1.5 18.75
us.anthropic.claude-opus-4-20250514-v1:0 15 75 1.5 18.75
us.anthropic.claude-opus-4-5-20251101-v1:0 5.5 27.5 0.55 6.875
us.anthropic.claude-opus-4-6-v1 5.5 27.5 0.55 6.875
us.anthropic.claude-opus-4-7 5.5 27.5 0.55 6.875
us.anthropic.claude-opus-4-8 5.5 27.5 0.55 6.875
us.anthropic.claude-opus-5 5.5 27.5 0.55 6.875
us.anthropic.claude-sonnet-4-20250514-v1:0 3 15 0.3 3.75 6 22.5 0.6 7.5
us.anthropic.claude-sonnet-4-5-20250929-v1:0 3.3 16.5 0.33 4.125 6.6 24.75 0.66 8.25
us.anthropic.claude-sonnet-4-6 3.3 16.5 0.33 4.125
us.anthropic.claude-sonnet-5 2.2 11 0.22 2.75
gemini-2.0-flash-lite 0.075 0.3 -
gemini-2.5-flash 0.3 2.5 0.03
gemini-2.5-flash-lite 0.1 0.4 0.01
gemini-2.5-flash-lite-preview-06-17 0.15 0.6 0.015
gemini-2.5-flash-lite-preview-09-2025 0.1 0.4 0.01
gemini-2.5-flash-preview-04-17 0.15 0.6 0.015
gemini-2.5-flash-preview-05-20 0.15 0.6 0.015
gemini-2.5-flash-preview-09-2025 0.3 2.5 0.03
gemini-2.5-pro 1.25 10 0.125 - 2.5 15 0.25
gemini-2.5-pro-preview-03-25 2.5 10 0.25
gemini-2.5-pro-preview-05-06 2.5 10 0.25
gemini-2.5-pro-preview-06-05 2.5 10 0.25
gemini-3-1-pro 2 12 0.2 - 4 18 0.4
gemini-3-flash 0.5 3 0.05 0.083333
gemini-3-flash-preview 0.5 3 0.05
gemini-3-pro 2 12 0.2 - 4 18 0.4
gemini-3-pro-preview 2 12 0.19999999999999998
gemini-3.1-flash-lite 0.25 1.5 0.025
gemini-3.1-flash-lite-preview 0.25 1.5 0.025
gemini-3.1-pro-preview 2 12 0.2 - 4 18 0.4
gemini-3.1-pro-preview-customtools 2 12 0.2 - 4 18 0.4
gemini-3.5-flash 1.5 9 0.15
gemini-3.5-flash-lite 0.3 2.5 0.03
gemini-3.6-flash 0.75 3.75 0.075
gemini-3.7-flash 0.75 3.75 0.075
gemini-3.8-flash 0.75 3.75 0.075
`
