/** What a note says, as a sentence for people. The whole of it is in the file of its channel. */
import { ENGINE, type NoteBody } from '../domain/coordination/note.js';
import { cycleText } from '../rules/coordination/deadlock.js';

export function noteText(body: NoteBody): string {
  switch (body.type) {
    case 'said':
      return body.text;
    case 'state_change':
      return `${body.agent}: ${body.fromState} → ${body.toState} (${body.reason})`;
    case 'dependency_request': {
      const { requester, dependencyType, requirements, deadline, dependency } = body;
      const by = deadline === undefined ? '' : ` by ${deadline}`;
      return `${requester} needs ${dependencyType}${by}: ${wanted(requirements)} [${dependency}]`;
    }
    case 'dependency_offer': {
      const { provider, fitness, steppedBack, dependency } = body;
      const what = steppedBack === undefined ? 'offers it' : `steps back for ${steppedBack}`;
      return `${provider} ${what}, fit to ${fitness} of 100 [${dependency}]`;
    }
    case 'dependency_award':
      return `${body.provider} shall give it to ${body.requester}, because ${body.why} [${body.dependency}]`;
    case 'dependency_resolution': {
      const { provider, requester, dependency, resolution } = body;
      const data = resolution.data === undefined ? '' : `: ${resolution.data}`;
      return `${resolution.status} for ${requester}${byWhom(provider)}${data} [${dependency}]`;
    }
    case 'help_request':
      return `${body.requester} asks for help (${body.requiredCapabilities.join(', ') || 'of anybody'}): ${body.taskContext}`;
    case 'help_answer':
      return `${body.helper} ${body.accepted ? 'helps' : 'does not help'} ${body.requester}: ${body.why}`;
    case 'completion_probe':
      return `is ${body.root} over? ${asked(body.phase)} [ballot ${body.ballot}, by ${body.peer}]`;
    case 'completion_vote': {
      const { peer, root, ballot, phase, ready, why } = body;
      const said = ready ? 'is at rest' : `is not done${why === undefined ? '' : `: ${why}`}`;
      return `${peer} ${said} with ${root}, ${asked(phase)} [ballot ${ballot}]`;
    }
    case 'deadlock':
      return `deadlock: ${cycleText(body.cycle)}; ${body.victim} gives way, ${body.cancelled} is cancelled: ${body.rule}`;
  }
}

function asked(phase: 1 | 2 = 1): string {
  return phase === 1 ? 'asked once' : 'asked again';
}

/** ` by ben`; nothing where no agent gave it: a resource was free, a task had ended. */
export function byWhom(provider: string): string {
  return provider === ENGINE ? '' : ` by ${provider}`;
}

/** The fields of a request in words. */
const NAMED: Record<string, string> = { dataType: 'kind of data' };

function wanted(requirements: Record<string, unknown>): string {
  const { need, ...rest } = requirements;
  const more = Object.entries(rest).map(
    ([key, value]) => `${NAMED[key] ?? key}: ${Array.isArray(value) ? value.join(', ') : String(value)}`,
  );
  return `${String(need ?? '')}${more.length === 0 ? '' : ` (${more.join('; ')})`}`;
}
