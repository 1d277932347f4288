import { toShortCount } from '#render'

/** `$1,234`, `$12.34`, `$0.05`, `< $0.01`: as exact as anybody needs it. */
export function toMoney(dollars: number): string {
  if (dollars === 0) return '$0'
  if (dollars < 0.01) return '< $0.01'
  const digits = dollars < 100 ? 2 : 0
  return `$${dollars.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`
}

/** `812`, `45k`, `1.2M`, `3.4B`. */
export function toAmount(value: number): string {
  if (value < 999_500_000) return toShortCount(value)
  return `${(value / 1e9).toFixed(value < 9.95e9 ? 1 : 0)}B`
}

/** `38 %`; what is there but very small is `< 1 %`. */
export function toShare(part: number, whole: number): string {
  if (!(whole > 0) || part <= 0) return '0 %'
  const percent = Math.min(100, (part / whole) * 100)
  return percent < 1 ? '< 1 %' : `${Math.round(percent)} %`
}
