/** Usage in benchmarks includes child processes, whether they still run or have ended. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { ownUsage } from '../../bench/harness/usage.js';

/** Uses processor time, reports it, and stays until its input ends. A grandchild does the same. */
const BURN = `const until = process.cpuUsage().user + 200000; while (process.cpuUsage().user < until);`;
const CHILD = `
const { spawnSync } = require('node:child_process');
spawnSync(process.execPath, ['-e', ${JSON.stringify(BURN)}]);
${BURN}
process.stdout.write('burnt');
process.stdin.on('end', () => process.exit()).resume();
`;

test(
  'processor time of a child and of its child counts while it runs and after it has ended',
  { skip: process.platform === 'linux' ? false : 'needs /proc' },
  async () => {
    const before = ownUsage().cpuMs;
    const child = spawn(process.execPath, ['-e', CHILD], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    const running = ownUsage().cpuMs;
    child.stdin.end();
    await once(child, 'exit');
    const ended = ownUsage().cpuMs;
    assert.ok(running - before >= 380, `${running - before} ms while it runs`);
    assert.ok(ended >= running - 20, `${ended - running} ms are lost when it ends`);
  },
);
