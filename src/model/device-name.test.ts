import { expect, test } from 'vitest'
import { readSigner, toDeviceName, toShortSigner, toSigner } from './device-name.ts'

test.each([
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36',
    'Chrome on Linux',
  ],
  // As it was stored, cut off after a hundred characters.
  ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, l', 'a browser on Linux'],
  [
    'Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0 Mobile Safari/537.36',
    'Chrome on Android',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
    'Safari on an iPhone',
  ],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Windows'],
  [
    'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/156.0 Safari/537.36 Edg/156.0',
    'Edge on Windows',
  ],
  ['my phone', 'my phone'],
])('[SRV18] a browser is named by what it is: %s', (label, name) => {
  expect(toDeviceName(label)).toBe(name)
})

test('[AUD8] a device signs with its id, whatever it is called', () => {
  const id = '3f2a91b0c4d5e6f7'
  const signed = (label: string): readonly unknown[] => {
    const by = toSigner({ id, label })
    return [by, readSigner(by), toShortSigner(by)]
  }
  expect(signed('this machine')).toEqual([
    'this machine (device 3f2a91b0c4d5e6f7)',
    { id, label: 'this machine' },
    'this machine (device 3f2a91b0)',
  ])
  const other = 'desk (device 0000000000000000)'
  expect(signed(other)).toEqual([
    `${other} (device ${id})`,
    { id, label: other },
    `${other} (device 3f2a91b0)`,
  ])
  expect(signed('')).toEqual([`(device ${id})`, { id, label: '' }, '(device 3f2a91b0)'])
  expect([readSigner('this machine'), toShortSigner('this machine')]).toEqual([undefined, 'this machine'])
})
