/** `guild agent pause` and `guild agent resume`. */
import { openRoster } from '../../../app/readers/open-roster.js';
import { openReader } from '../../../app/readers/open-reader.js';
import { pauseAgent, resumeAgent } from '../../../app/pause-agent.js';
import { isSafeId } from '../../../domain/task/id.js';
import { nearestHint } from '../../../domain/nearest.js';
import { problem, ProblemError } from '../../../domain/problem.js';
import { EXIT, type Call } from '../../args/command.js';

export async function pause({ root, words, terminal, json }: Call): Promise<number> {
  const [name, ...rest] = words;
  openReader(root);
  const { agents } = openRoster(root);
  if (name === undefined || !agents.has(name))
    throw new ProblemError(unknown('pause', name, [...agents.keys()].sort()));
  const reason = rest.join(' ');
  const fresh = await pauseAgent(root, name, reason);
  if (json) terminal.json({ agent: name, paused: true, reason });
  else
    terminal.say(
      fresh
        ? `${name} is paused: it finishes its current turn and takes no other (guild agent resume ${name})`
        : `${name} was already paused`,
    );
  return EXIT.done;
}

export async function resume({ root, words: [name], terminal, json }: Call): Promise<number> {
  openReader(root);
  if (name === undefined || !isSafeId(name)) throw new ProblemError(unknown('resume', name, []));
  const was = await resumeAgent(root, name);
  if (json) terminal.json({ agent: name, paused: false, was_paused: was });
  else terminal.say(was ? `${name} works again` : `${name} was not paused`);
  return EXIT.done;
}

function unknown(word: string, name: string | undefined, names: string[]): ReturnType<typeof problem> {
  if (name === undefined) return problem('bad_usage', `guild agent ${word} needs the name of an agent`);
  const hint = nearestHint(name, names, `the agents are: ${names.join(', ')}`);
  return problem('unknown_agent', `there is no agent ${name}`, { hint });
}
