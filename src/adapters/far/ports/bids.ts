/**
 * Track records, folded from the event log, and earlier bids of this process. The fold is saved as
 * an entry with its place in the log, so that a new process reads only the rest.
 */
import type { TrackRecords } from '../../../domain/agent/track-record.js';
import type { Event } from '../../../domain/event.js';
import type { Bid } from '../../../domain/task/bid.js';
import type { Bids } from '../../../ports/bids.js';
import type { Ledger } from '../../../ports/ledger.js';
import type { Outbox } from '../outbox.js';
import { EVENTS } from '../records.js';

interface Folded {
  place: number;
  records: TrackRecords;
}

interface FarBidsOptions {
  ledger: Ledger;
  outbox: Outbox;
  fold: (records: TrackRecords, event: Event) => TrackRecords;
  /** Registers a function that is called before each scan returns. */
  onScan: (act: () => Promise<void>) => void;
}

const KEY = 'cache/records';
/** The fold is saved after this many events. */
const SAVE_AFTER = 500;

/** Records are read with the first scan after somebody asks for them. */
export function farBids({ ledger, outbox, fold, onScan }: FarBidsOptions): Bids {
  const known = new Map<string, Bid>();
  let folded: Folded | undefined;
  let unsaved = 0;
  let isAsked = false;
  return {
    records() {
      if (!isAsked) onScan(readOn);
      isAsked = true;
      return folded?.records ?? {};
    },
    known: (key) => known.get(key),
    keep: (key, bid) => void known.set(key, bid),
  };

  async function readOn(): Promise<void> {
    const entry = folded === undefined ? await ledger.get(KEY) : undefined;
    const before: Folded = folded ?? (entry ? (JSON.parse(entry.value) as Folded) : { place: 0, records: {} });
    const { texts, end } = await ledger.lines(EVENTS, { after: before.place });
    const records = texts.reduce((all, text) => fold(all, JSON.parse(text) as Event), before.records);
    const now: Folded = { place: end, records };
    folded = now;
    unsaved += texts.length;
    if (unsaved < SAVE_AFTER) return;
    unsaved = 0;
    const rev = (await ledger.get(KEY))?.rev ?? 0;
    outbox.setLater({ key: KEY, rev }, { print: () => JSON.stringify(now), live: false, topic: 'views' });
  }
}
