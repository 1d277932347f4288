/** What a person calls a device: browsers name themselves at length, and only which browser and system it is matters. */
export function toDeviceName(label: string): string {
  if (!label.startsWith('Mozilla/')) return label
  const browser = BROWSERS.find(([sign]) => label.includes(sign))?.[1] ?? 'a browser'
  const system = SYSTEMS.find(([sign]) => label.includes(sign))?.[1]
  return system === undefined ? browser : `${browser} on ${system}`
}

/**
 * Who did something from a device. Labels are chosen by whoever names the device, so that one may be called like
 * another, or `this machine`; the id stands behind it, and the last one counts.
 */
export function toSigner({ id, label }: { readonly id: string; readonly label: string }): string {
  return `${toDeviceName(label).trim()} (device ${id})`.trimStart()
}

/** The device that signed, where it was one. */
export function readSigner(by: string): { readonly id: string; readonly label: string } | undefined {
  const [, label, id] = /^(.*?)\(device ([0-9a-f]{8,64})\)$/s.exec(by) ?? []
  return label === undefined || id === undefined ? undefined : { id, label: label.trim() }
}

/** A signature for a line of a conversation: as much of the id as tells devices apart. */
export function toShortSigner(by: string): string {
  const device = readSigner(by)
  return device === undefined ? toDeviceName(by) : toSigner({ ...device, id: device.id.slice(0, 8) })
}

/** The more special names first: every browser also claims to be several others. */
const BROWSERS = [
  ['Edg/', 'Edge'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const
const SYSTEMS = [
  ['iPhone', 'an iPhone'],
  ['iPad', 'an iPad'],
  ['Android', 'Android'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'a Mac'],
  ['Linux', 'Linux'],
] as const
