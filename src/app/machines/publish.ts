/** `guild publish`: makes every machine use the definitions of this folder. */
import type { Env } from '../../domain/config/env.js';
import { randomUUID } from 'node:crypto';
import os from 'node:os';
import { defined } from '../../domain/defined.js';
import { lookAtTrust, publicKeyOf } from '../trust/trust.js';
import { definitionsHash, publish, readPublished, type Published } from '../../adapters/definitions/index.js';
import { noLongerHired } from '../far/hired.js';
import { publishKey } from '../far/keys.js';
import { checkedOut } from './checked-out.js';
import { refuseIfPartlyPushed } from './refusals.js';
import { storeAddress, withLedger } from './store-address.js';

interface Publishing {
  published: Published;
  /** Undefined: nothing was published before. */
  before?: Published;
}

export async function publishDefinitions(root: string, env: Env, store?: string): Promise<Publishing> {
  const { digest } = lookAtTrust(root, env);
  const commit = await checkedOut(root, env);
  const published: Published = defined({
    hash: definitionsHash(root),
    trust: digest,
    commit,
    by: `${os.userInfo().username}@${os.hostname()}`,
    at: new Date().toISOString(),
  });
  return withLedger(storeAddress(root, env, store), async (ledger) => {
    await refuseIfPartlyPushed(ledger);
    const before = await readPublished(ledger);
    const id = randomUUID();
    await publishKey(ledger, `${id}-key`, publicKeyOf(env));
    await publish(ledger, id, published, await noLongerHired(ledger, root));
    return defined({ published, before });
  });
}
