/**
 * Fetches pages over HTTP. A person approved the host that the address shows, so a name that leads
 * to an address inside the network is refused, the connection goes to the address that was checked,
 * and a redirect to another host is not followed.
 */
import http from 'node:http';
import https from 'node:https';
import dns from 'node:dns/promises';
import net from 'node:net';
import { deadline } from '../../ports/clock.js';
import type { Web, WebPage } from '../../ports/reading/web.js';
import { htmlText } from '../../text/web/html-text.js';
import { isInternal, isLinkLocal, isLocalName } from './internal-address.js';

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 5_000_000;
const MAX_REDIRECTS = 5;

export function web(): Web {
  return {
    async get(address, signal) {
      const limit = deadline(TIMEOUT_MS, signal);
      try {
        const url = new URL(address);
        const hidden = hiddenAddress(url, address);
        if (hidden !== undefined)
          throw new Error(`it is ${hidden}, an address inside the network; write it in that form`);
        return await follow(url, limit.signal);
      } catch (thrown) {
        const { message, code } = thrown as NodeJS.ErrnoException;
        return { problem: `${address} cannot be fetched: ${message || code || String(thrown)}` };
      } finally {
        limit.end();
      }
    },
  };
}

/** `http://2130706433/` is 127.0.0.1, but the person who approves it does not see that. */
function hiddenAddress({ hostname }: URL, written: string): string | undefined {
  const host = bare(hostname);
  const isWritten = written.toLowerCase().includes(`//${hostname}`);
  return net.isIP(host) !== 0 && isInternal(host) && !isWritten ? host : undefined;
}

async function follow(start: URL, signal: AbortSignal): Promise<WebPage> {
  let url = start;
  for (let hops = 0; ; hops++) {
    const response = await request(url, signal);
    const { statusCode: status = 0, headers } = response;
    if (status < 300 || status >= 400 || headers.location === undefined) return page(url, response);
    response.destroy();
    const next = new URL(headers.location, url);
    if (next.host !== start.host || next.protocol !== start.protocol)
      return { url: url.href, status, type: '', text: '', bytes: 0, cut: false, redirect: next.href };
    if (hops >= MAX_REDIRECTS) throw new Error(`it redirects more than ${MAX_REDIRECTS} times`);
    url = next;
  }
}

async function request(url: URL, signal: AbortSignal): Promise<http.IncomingMessage> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Error('only http and https are supported');
  if (url.username !== '' || url.password !== '') throw new Error('the address contains a user name or a password');
  const address = await resolve(bare(url.hostname));
  const { request: send } = url.protocol === 'https:' ? https : http;
  return new Promise((done, fail) => {
    const asked = send(
      url,
      {
        signal,
        headers: { 'user-agent': 'guildhall', accept: 'text/html, text/*;q=0.9, */*;q=0.5' },
        // The address that was checked, even if the name resolves differently a moment later.
        lookup: (_host, options, found) =>
          options.all ? found(null, [address]) : found(null, address.address, address.family),
      },
      done,
    );
    asked.on('error', fail);
    asked.end();
  });
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

async function resolve(host: string): Promise<{ address: string; family: number }> {
  const family = net.isIP(host);
  if (family !== 0) return { address: host, family };
  const found = await dns.lookup(host);
  if (isInternal(found.address) && (!isLocalName(host) || isLinkLocal(found.address)))
    throw new Error(`${host} leads to ${found.address}, an address inside the network`);
  return found;
}

async function page(url: URL, response: http.IncomingMessage): Promise<WebPage> {
  const type = (response.headers['content-type'] ?? 'text/plain').split(';', 1)[0]!.trim().toLowerCase();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let cut = false;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, MAX_BYTES - bytes));
    bytes += chunks.at(-1)!.length;
    cut = bytes >= MAX_BYTES;
    if (cut) break;
  }
  const status = response.statusCode ?? 0;
  const body = isText(type) ? new TextDecoder().decode(Buffer.concat(chunks)) : '';
  const text = type === 'text/html' || type === 'application/xhtml+xml' ? htmlText(body, url.href) : body;
  return { url: url.href, status, type, text, bytes, cut };
}

function isText(type: string): boolean {
  return type.startsWith('text/') || /^application\/(?:.+\+)?(?:json|xml|yaml|javascript|x-ndjson)$/.test(type);
}
