/** Addresses that only exist inside a network: loopback, private, link-local and reserved ones. */
import net from 'node:net';

const INTERNAL = new net.BlockList();
for (const [address, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const)
  INTERNAL.addSubnet(address, bits, 'ipv4');
for (const [address, bits] of [
  // These contain an IPv4 address, which may be an internal one.
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const)
  INTERNAL.addSubnet(address, bits, 'ipv6');

export function isInternal(address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return isInternal(mapped);
  return INTERNAL.check(address, net.isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** A machine in a cloud gets its keys from a service at such an address. */
export function isLinkLocal(address: string): boolean {
  return /^(?:::ffff:)?169\.254\.|^fe[89ab]|^fd00:ec2::254$/i.test(address);
}

/** True for a name that is reserved for the local network. */
export function isLocalName(host: string): boolean {
  return !host.includes('.') || /\.(?:localhost|local|internal|lan|home\.arpa)$/i.test(host);
}
