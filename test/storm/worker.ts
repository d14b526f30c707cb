/** One worker of the storm: runs like `guild watch` until it is stopped or killed. */
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
