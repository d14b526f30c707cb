/**
 * The subscribing process of note-bus.ts: reports the latency of each note. The sender puts its
 * wall-clock milliseconds into the note's `task` field.
 */
import { bus } from '../../src/adapters/bus/index.js';
import { clock } from '../../src/adapters/clock/index.js';
import { disk } from '../../src/adapters/disk/index.js';

const root = process.argv[2]!;
const notes = bus({ root, disk: disk(), clock: clock() });
notes.subscribe('state', ({ task }) => process.send!(performance.timeOrigin + performance.now() - Number(task)));
notes.follow();
setInterval(() => undefined, 60_000);
process.send!('ready');
