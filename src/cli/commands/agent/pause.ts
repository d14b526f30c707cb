/** `guild agent pause` and `guild agent resume`. */
import { openReader } from '../../../app/readers/open-reader.js';
import { pauseAgent, resumeAgent } from '../../../app/pause.js';
import { isSafeId } from '../../../domain/task/id.js';
import { problem, ProblemError, type Problem } from '../../../domain/problem.js';
import { EXIT, type Call } from '../../args/command.js';
import { knownAgent, unknownAgent } from '../../args/known-agent.js';

export async function pause({ root, words, terminal, json }: Call): Promise<number> {
  const [name, ...rest] = words;
  openReader(root);
  if (name === undefined) throw new ProblemError(nameMissing('pause'));
  knownAgent(root, name);
  const reason = rest.join(' ');
  const fresh = await pauseAgent(root, name, reason);
  if (json) terminal.json({ agent: name, paused: true, reason });
  else
    terminal.say(
      fresh
        ? `${name} is paused: it finishes its current turn and starts no other (guild agent resume ${name})`
        : `${name} was already paused`,
    );
  return EXIT.done;
}

export async function resume({ root, words: [name], terminal, json }: Call): Promise<number> {
  openReader(root);
  if (name === undefined) throw new ProblemError(nameMissing('resume'));
  if (!isSafeId(name)) throw new ProblemError(unknownAgent(root, name));
  const was = await resumeAgent(root, name);
  if (json) terminal.json({ agent: name, paused: false, was_paused: was });
  else terminal.say(was ? `${name} works again` : `${name} was not paused`);
  return EXIT.done;
}

function nameMissing(word: string): Problem {
  return problem('bad_usage', `guild agent ${word} needs the name of an agent`);
}
