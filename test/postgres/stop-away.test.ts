/** Ctrl-C while the database is away. */
import assert from 'node:assert/strict';
import { place, scripted, succeeds } from '../kit/guild.js';
import { NO_POSTGRES } from '../kit/postgres/server.js';
import { sampleTests } from '../kit/sample.js';
import { until } from '../kit/until.js';
import { field } from './bench.js';

const test = sampleTests('postgres/stop-away', 2);
const SCRIPT = '- {agent: boss, turn: 1, wait: 30m, say: done}\n';
/** Far less than the minute for which a worker waits, with room for a loaded machine. */
const SOON_MS = 8000;

for (const how of ['halt', 'freeze'] as const) {
  test(`the first Ctrl-C ends watch and sync soon, database: ${how}`, { skip: NO_POSTGRES }, async (t) => {
    const { server, schema, end } = await field();
    const files = scripted(SCRIPT);
    files['guild.yaml'] += `store: ${server.url}?schema=${schema}\ngit: false\n`;
    const [worker, desk] = [place(t, files), place(t, files)];
    succeeds(await desk.guild('publish'));
    succeeds(await desk.guild('task', 'add', 'take your time', '--to', 'boss', '--id', 'long'));
    const running = [worker.spawn('watch'), desk.spawn('sync')];
    await until(() => desk.list('tasks/active').length > 0);
    await server[how]();
    try {
      // A frozen server is noticed only after half a minute.
      if (how === 'halt') await Promise.all(running.map((each) => each.says(/does not answer/)));
      const from = performance.now();
      for (const each of running) each.interrupt();
      const ended = await Promise.all(running.map((each) => each.ended));
      const tookMs = performance.now() - from;
      assert.ok(tookMs < SOON_MS, `it took ${Math.round(tookMs)} ms`);
      const said = ended[1]!.err.match(/does not answer/g) ?? [];
      assert.equal(said.length, how === 'halt' ? 1 : 0, ended[1]!.err);
    } finally {
      await (how === 'halt' ? server.start() : server.thaw());
    }
    await end();
  });
}
