/** The record of sent notices that all processes of a workspace share. */
import { disk as realDisk } from '../../adapters/disk/index.js';
import { farNotices } from '../../adapters/far/ports/notices.js';
import { notifyLedger } from '../../adapters/notify/index.js';
import type { Notices } from '../../ports/store/notices.js';
import type { Store } from '../../ports/store/index.js';
import { farPartsOf } from '../readers/open-reader.js';

export function openNotices(root: string, store: Store): Notices {
  const { id: peer } = store.presence.peer;
  const parts = farPartsOf(store);
  return parts === undefined
    ? notifyLedger(realDisk(), root, peer)
    : farNotices({ ...parts, peer, now: () => new Date() });
}
