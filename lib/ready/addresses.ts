/**
 * Tells public addresses from those of a private network, of this machine and of its link.
 *
 * Owns: the ranges, and which of them a request may reach. Whatever is allowed, no request reaches the link
 * (169.254.…, fe80::…) or AWS's services at fd00:ec2::…: any program that asks there gets the machine's
 * credentials. Services of VPC Lattice are there, too, and count as a private network. Does not own: when an
 * address is checked (`send.ts`).
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */

import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/**
 * Makes a list that also finds a version 4 address within a version 6 one: mapped, or as NAT64 translates it.
 */
const listOf = (ranges: string): BlockList => {
  const list = new BlockList();
  for (const range of ranges.split(' ')) {
    const [net = '', bits] = range.split('/');
    list.addSubnet(net, Number(bits), isIPv4(net) ? 'ipv4' : 'ipv6');
    if (isIPv4(net)) list.addSubnet(`64:ff9b::${net}`, 96 + Number(bits), 'ipv6');
  }
  return list;
};

/** The addresses that a request may reach: public ones; also private networks; also this machine. */
export type Reach = 'public' | 'private' | 'here';

const PRIVATE_4 = listOf(
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3',
);
/** All allocated addresses; the others are reserved, or local, or contain a version 4 address. */
const GLOBAL_6 = listOf('2000::/3');
const NAT64 = listOf('64:ff9b::/96');
const PRIVATE_6 = listOf('2001::/23 2001:db8::/32 2002::/16 3fff::/20');

/**
 * Addresses that are never reached: the link, AWS's services to the machine, unspecified, group and reserved
 * ones.
 */
const DENIED = listOf('0.0.0.0/8 169.254.0.0/16 224.0.0.0/3 ::/96 fe80::/10 fd00:ec2::/32 ff00::/8');
/** The addresses of VPC Lattice's services. */
const LATTICE = listOf('169.254.171.0/24 fd00:ec2:80::/64');
const MACHINE = listOf('127.0.0.0/8 ::1/128');

/**
 * True if the address is public. A version 6 address that contains a version 4 one counts as public only in
 * the form that NAT64 translates: where DNS64 answers, every name has such an address.
 */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !PRIVATE_4.check(address, 'ipv4');
  if (!isIPv6(address)) return false;
  if (NAT64.check(address, 'ipv6')) return !PRIVATE_4.check(address, 'ipv6');
  return GLOBAL_6.check(address, 'ipv6') && !PRIVATE_6.check(address, 'ipv6');
}

/** True if an address that is not public may still be reached. */
export function mayReach(address: string, reach: Reach): boolean {
  const isIn = (list: BlockList): boolean => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  if (isIP(address) === 0 || reach === 'public') return false;
  return isIn(MACHINE) ? reach === 'here' : isIn(LATTICE) || !isIn(DENIED);
}
