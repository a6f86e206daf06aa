/**
 * Tells public addresses from those of a private network, of this machine or of its link.
 *
 * Owns: the ranges. Does not own: when an address is checked (`send.ts`).
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */

import { BlockList, isIPv4, isIPv6 } from 'node:net';

const listOf = (family: 'ipv4' | 'ipv6', ranges: string): BlockList => {
  const list = new BlockList();
  for (const range of ranges.split(' ')) {
    const [net = '', bits] = range.split('/');
    list.addSubnet(net, Number(bits), family);
  }
  return list;
};

const PRIVATE_4 = listOf(
  'ipv4',
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3',
);
/** All allocated addresses; the rest is reserved, or local, or contains a version 4 address. */
const GLOBAL_6 = listOf('ipv6', '2000::/3');
const PRIVATE_6 = listOf('ipv6', '2001::/23 2001:db8::/32 2002::/16 3fff::/20');

/** A version 4 address written as a version 6 one is not global, so it is not public. */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !PRIVATE_4.check(address, 'ipv4');
  return isIPv6(address) && GLOBAL_6.check(address, 'ipv6') && !PRIVATE_6.check(address, 'ipv6');
}
