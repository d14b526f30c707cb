/** One worker of the storm: a process that does what `guild watch` does, until it is told to leave or killed. */
import { openWorkspace } from '../../src/app/index.js';

const root = process.argv[2]!;
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
process.once('disconnect', () => process.exit(1));
const workspace = await openWorkspace(root);
process.send!('open');
await workspace.watch(stop.signal);
await workspace.close();
process.exit(0);
