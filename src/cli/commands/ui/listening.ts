/** Where a server of this program listens: the same options and rules for `ui` and `serve`. */
import { defined } from '../../../domain/defined.js';
import { problemError } from '../../../domain/problem.js';
import type { Listening } from '../../../web/listen.js';
import { text, type Call } from '../../args/command.js';

export const LISTEN_OPTIONS = {
  host: { type: 'string', value: 'ADDRESS', about: 'listen on this address; needs TLS or a proxy' },
  'tls-cert': { type: 'string', value: 'FILE', about: 'the certificate; the server answers to the names in it' },
  'tls-key': { type: 'string', value: 'FILE', about: 'the key of the certificate' },
} as const;

/** `proxies`: names under which a proxy with TLS passes requests on. */
export function listeningOf(values: Call['values'], proxies: readonly string[]): Listening {
  const [host, cert, key] = [text(values, 'host'), text(values, 'tls-cert'), text(values, 'tls-key')];
  if ((cert === undefined) !== (key === undefined))
    throw problemError('bad_usage', '--tls-cert and --tls-key belong together');
  for (const proxy of proxies)
    if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d+)?$/i.test(proxy))
      throw problemError('bad_usage', `--behind-proxy must be a host name, not ${JSON.stringify(proxy)}`);
  const [proxy] = proxies;
  return defined({
    host,
    tls: cert === undefined || key === undefined ? undefined : { cert, key },
    proxy: proxy?.toLowerCase(),
  });
}
