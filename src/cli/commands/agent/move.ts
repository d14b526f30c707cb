/** `guild agent move`. */
import { moveAgent } from '../../../app/machines/move-agent.js';
import { problemError } from '../../../domain/problem.js';
import { EXIT, type Call } from '../../args/command.js';
import { knownAgent } from '../../args/known-agent.js';

export async function move({ root, words: [name, host], terminal, json }: Call): Promise<number> {
  if (name === undefined || host === undefined)
    throw problemError('bad_usage', 'guild agent move needs the name of an agent and of a machine');
  if (!/^[\w.-]+$/.test(host))
    throw problemError('bad_usage', `"${host}" is not the name of a machine`, {
      hint: 'guild state lists the machines at work',
    });
  if (knownAgent(root, name).runsOn.length === 0)
    throw problemError('bad_usage', `${name} runs on every machine, so it has no home`, {
      hint: 'add runs_on with labels of machines to its file, and publish it',
    });
  const moved = await moveAgent(root, name, host);
  if (json) {
    terminal.json(moved);
    return EXIT.done;
  }
  const { from, to, isLive } = moved;
  terminal.say(from === undefined ? `the home of ${name} is ${to}` : `the home of ${name} was ${from} and is ${to}`);
  terminal.say(terminal.dim(`its folder workspaces/${name}/ is not copied; bring it there with Git`));
  if (!isLive)
    terminal.say(
      `no process runs on ${to} yet: until one does, the next machine that may run ${name} becomes its home`,
    );
  return EXIT.done;
}
