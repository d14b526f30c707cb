/**
 * W4: one conversation of 2,000 turns, each a `run()` of an agent with `session: shared`. The whole
 * conversation is sent every time, so a raw loop gets slower too; the figures are the added cost of
 * a late turn over raw compared with an early one, and the bytes written.
 */
import { against, median, without, type Bench, type Row } from '../harness/rows.js';
import { builds, measure, RAW_FETCH, RAW_JOURNAL, type MeasuredSubject } from '../harness/subjects.js';

const EARLY = 10;
const LATE = 2000;
/** A turn's value is the median over this many turns; the turn is the middle one or the last. */
const WINDOW = 20;
const MAX_RATIO = 1.5;
const MAX_WRITTEN_KB = 24;

export const conversation: Bench = {
  name: 'w4 conversation',
  async run(testbed) {
    const turns = testbed.scale(LATE, 100);
    const settings = { workload: 'talk', runs: turns, warmUps: 0 } as const;
    const everybody = [RAW_FETCH, RAW_JOURNAL, ...builds(testbed)];
    const rounds = everybody.map(() => [] as MeasuredSubject[]);
    for (let round = 0; round < Math.ceil(testbed.rounds / 3); round++)
      for (const [at, who] of everybody.entries()) rounds[at]!.push(await measure(testbed, who, settings));
    const [raw, journal, ours, older] = rounds as [
      MeasuredSubject[],
      MeasuredSubject[],
      MeasuredSubject[],
      ...MeasuredSubject[][],
    ];
    const rows: Row[] = [];
    for (const turn of [EARLY, 100, 500, turns].filter((each, at, all) => each <= turns && all.indexOf(each) === at)) {
      const row: Row = {
        name: `shared conversation: turn ${turn}`,
        ours: at(ours, turn),
        raw: at(raw, turn),
        unit: 'ms',
        compared: '',
      };
      rows.push(against(row, older && at(older, turn)));
    }
    return [
      ...rows,
      growth('time', [EARLY, turns], ({ ms }) => ms, [raw, ours, older]),
      growth('processor time', [Math.min(EARLY_CPU, turns), turns], ({ ownCpuMs }) => ownCpuMs, [raw, ours, older]),
      written(journal, ours, older),
    ];
  },
};

type Times = (measured: MeasuredSubject) => number[];

/**
 * The first turns of a process run code that is not compiled yet. The hundredth turn is therefore
 * the early one for processor time, which counts compilation by other threads.
 */
const EARLY_CPU = 100;

function growth(
  what: string,
  [early, late]: [number, number],
  times: Times,
  [raw, ours, older]: [MeasuredSubject[], MeasuredSubject[], MeasuredSubject[]?],
): Row {
  const over = (rounds: MeasuredSubject[], turn: number): number => at(rounds, turn, times) - at(raw, turn, times);
  const ratio = (rounds: MeasuredSubject[]): number => over(rounds, late) / over(rounds, early);
  const row: Row = {
    name: `shared conversation: ${what} of turn ${late} against turn ${early}, both over raw`,
    ours: ratio(ours),
    unit: 'times',
    compared: `${over(ours, early).toFixed(1)} → ${over(ours, late).toFixed(1)} ms`,
    target: `≤ ×${MAX_RATIO}`,
    met: ratio(ours) <= MAX_RATIO,
  };
  return against(row, older && ratio(older));
}

function written(journal: MeasuredSubject[], ours: MeasuredSubject[], older?: MeasuredSubject[]): Row {
  const name = 'shared conversation: written to disk per turn';
  const kb = (rounds: MeasuredSubject[]): number =>
    median(rounds.map(({ writtenBytes }) => (writtenBytes ?? NaN) / 1000));
  if (Number.isNaN(kb(ours))) return without(name, 'not reported by this system');
  const row: Row = {
    name,
    ours: kb(ours),
    raw: kb(journal),
    unit: 'kB',
    compared: '',
    target: `≤ ${MAX_WRITTEN_KB} kB`,
    met: kb(ours) <= MAX_WRITTEN_KB,
  };
  return against(row, older && kb(older));
}

function at(rounds: readonly MeasuredSubject[], turn: number, times: Times = ({ ms }) => ms): number {
  return median(
    rounds.map((measured) => {
      const all = times(measured);
      const last = Math.min(all.length, turn + WINDOW / 2);
      return median(all.slice(Math.max(0, last - WINDOW), last));
    }),
  );
}
