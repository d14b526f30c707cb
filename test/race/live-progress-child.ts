/** Offers one turn until its standard input ends. */
import { offerProgress } from '../../src/adapters/live-progress/index.js';

const [root = '', peer = ''] = process.argv.slice(2);
const offer = offerProgress({ root, env: {}, peer });
offer.progress({ task: `t-${peer}`, root: `t-${peer}`, agent: 'ana', kind: 'thinking' });
process.stdout.write('offered\n');
process.stdin.on('end', () => offer.close());
process.stdin.resume();
