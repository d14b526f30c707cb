/** The other process: hears notes and says how long each was on its way. `task` holds when it was told, in milliseconds of both processes' time. */
import { bus } from '../src/adapters/bus/index.js';
import { clock } from '../src/adapters/clock/index.js';
import { disk } from '../src/adapters/disk/index.js';

const root = process.argv[2]!;
const on = bus({ root, disk: disk(), clock: clock() });
on.subscribe('state', ({ task }) => process.send!(performance.timeOrigin + performance.now() - Number(task)));
on.follow();
setInterval(() => undefined, 60_000);
process.send!('ready');
