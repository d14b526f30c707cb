/**
 * The hosts that a command may reach: `registry.npmjs.org`, `*.example.org`, `example.org:8443`,
 * `10.0.0.7:80`, `[::1]:3000`. Without a port, 80 and 443 are meant.
 */
import { defined } from '../../domain/defined.js';

interface Host {
  name: string;
  port?: number;
}

const MAX_HOSTS = 20;

export function hostOf(text: string): Host | undefined {
  const [, name, port] =
    /^((?:\*\.)?[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(text) ?? [];
  if (name === undefined || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535) return undefined;
  return defined({
    name: name.replace(/^\[|\]$/g, '').toLowerCase(),
    port: port === undefined ? undefined : Number(port),
  });
}

export function wrongHosts(hosts: unknown): string | undefined {
  if (!Array.isArray(hosts) || hosts.length === 0) return 'hosts needs at least one host';
  if (hosts.length > MAX_HOSTS) return `hosts has more than ${MAX_HOSTS} entries`;
  const wrong = hosts.find((host) => typeof host !== 'string' || hostOf(host) === undefined || isTooWide(host));
  return wrong === undefined
    ? undefined
    : `${JSON.stringify(wrong)} is not a host; write a name such as registry.npmjs.org or *.example.org, with a port if it is not 80 or 443`;
}

/** `*.com` would cover half of the internet. */
function isTooWide(host: string): boolean {
  return host.startsWith('*.') && !hostOf(host)!.name.slice(2).includes('.');
}

export function namesHost(entry: string, name: string, port: number): boolean {
  const host = hostOf(entry);
  if (host === undefined || !(host.port === undefined ? port === 80 || port === 443 : port === host.port)) return false;
  return host.name.startsWith('*.') ? name.endsWith(host.name.slice(1)) : name === host.name;
}

/** Loopback, link-local and unspecified addresses, also in their IPv6 spelling. */
export function isLocalAddress(address: string): boolean {
  const text = address.toLowerCase();
  const mapped = /^(?:::ffff:|64:ff9b::)(\d+\.\d+\.\d+\.\d+)$/.exec(text)?.[1] ?? text;
  if (BEHIND_GATEWAY.test(text)) return true;
  if (/^\d+\.\d+\.\d+\.\d+$/.test(mapped)) return /^(0|127)\.|^169\.254\./.test(mapped);
  return (
    text === '::' || text === '::1' || /^fe[89ab]/.test(text) || text.startsWith('::ffff:') || text === 'fd00:ec2::254'
  );
}

/** 0.0.0.0/8, 127.0.0.0/8 and 169.254.0.0/16 behind a gateway between IPv6 and IPv4. */
const BEHIND_GATEWAY = /^64:ff9b::(?:(?:[0-9a-f]{1,2}|7f[0-9a-f]{2}|a9fe):)?[0-9a-f]{1,4}$/;
