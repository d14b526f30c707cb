/**
 * Runs lines that need no approval through the real shell, for a test that watches it from outside.
 * Arguments: the root of a workspace, the mode, and lines as JSON. Prints their outcomes as JSON.
 */
import { shell } from '../../src/adapters/shell/index.js';
import { planOf } from '../kit/commands.js';

const [root = '', mode, lines = '[]'] = process.argv.slice(2);
const env = mode === 'sandboxed' ? {} : { GUILD_SANDBOX: 'off' };
const commands = shell({ root, env });
const outputs: string[] = [];
for (const line of JSON.parse(lines) as string[]) {
  const outcome = await commands.run({
    agent: 'ana',
    what: { plan: planOf(line) },
    writes: 'own',
    timeoutMs: 120_000,
    maxOutputBytes: 64 * 1024,
    command: line,
  });
  outputs.push(outcome.kind === 'not_started' ? outcome.reason : outcome.output);
}
process.stdout.write(JSON.stringify(outputs));
