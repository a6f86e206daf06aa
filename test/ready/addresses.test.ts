/** Tests which addresses are public, and which of the others may be reached. */

import { isPublic, mayReach } from '../../lib/ready/addresses.ts';

describe('H1 an address', () => {
  const PRIVATE = `0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.1.1 169.254.169.254 172.16.0.1 172.31.9.9
    192.0.0.1 192.0.2.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255
    :: ::1 ::ffff:10.0.0.1 ::ffff:7f00:1 ::127.0.0.1 64:ff9b::a00:1 64:ff9b::127.0.0.1 100::1 2001::1 2001:db8::1 2002:a00:1::
    3fff::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1 no-address`;
  it.each(PRIVATE.split(/\s+/))('is private: %s', (address) => expect(isPublic(address)).toBe(false));
  const PUBLIC =
    '1.1.1.1 100.63.255.255 172.15.0.1 172.32.0.1 192.1.1.1 223.255.255.255 2606:4700::1 2a00::1 64:ff9b::1.1.1.1';
  it.each(PUBLIC.split(' '))('is public: %s', (address) => expect(isPublic(address)).toBe(true));

  it.each<[string, 'private' | 'here']>([
    ['10.1.2.3 100.64.0.1 172.16.0.1 192.168.1.1 fc00::1 fd12::1 ::ffff:10.0.0.1', 'private'],
    ['192.0.0.1 192.0.2.1 198.19.0.7 203.0.113.1 2001:db8::1 fec0::1', 'private'], // a VPC may have these
    ['64:ff9b::10.1.2.3 64:ff9b::169.254.171.7', 'private'], // NAT64
    ['169.254.171.7 ::ffff:169.254.171.7 fd00:ec2:80::a9fe:ab07', 'private'], // VPC Lattice
    ['127.0.0.1 127.255.1.1 ::1 ::ffff:127.0.0.1 64:ff9b::127.0.0.1', 'here'],
  ])('may be reached by who allows it: %s, %s', (addresses, reach) => {
    for (const address of addresses.split(' ')) {
      expect([address, mayReach(address, 'public')]).toEqual([address, false]);
      expect([address, mayReach(address, 'private')]).toEqual([address, reach === 'private']);
      expect([address, mayReach(address, 'here')]).toEqual([address, true]);
    }
  });
  const NEVER = `169.254.169.254 169.254.170.2 169.254.172.1 ::ffff:169.254.169.254 ::169.254.169.254
    64:ff9b::169.254.169.254 64:ff9b::224.0.0.1 fe80::1 fe80::1%eth0 fd00:ec2::254 fd00:ec2:81::1 0.0.0.0 0.1.2.3 ::
    224.0.0.1 ff02::1 240.0.0.1 255.255.255.255 no-address`;
  it.each(NEVER.split(/\s+/))('is reached by nobody: %s', (address) =>
    expect(mayReach(address, 'here')).toBe(false),
  );
});
