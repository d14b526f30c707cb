/** A note as a sentence for people. The file of its channel has all fields. */
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
      const action = steppedBack === undefined ? 'offers it' : `steps back for ${steppedBack}`;
      return `${provider} ${action}, fitness ${fitness} of 100 [${dependency}]`;
    }
    case 'dependency_award':
      return `${body.provider} provides it to ${body.requester}, because ${body.why} [${body.dependency}]`;
    case 'dependency_resolution': {
      const { provider, requester, dependency, resolution } = body;
      const data = resolution.data === undefined ? '' : `: ${resolution.data}`;
      return `${resolution.status} for ${requester}${byWhom(provider)}${data} [${dependency}]`;
    }
    case 'help_request':
      return `${body.requester} asks for help (${body.requiredCapabilities.join(', ') || 'any agent'}): ${body.taskContext}`;
    case 'help_answer':
      return `${body.helper} ${body.accepted ? 'helps' : 'does not help'} ${body.requester}: ${body.why}`;
    case 'completion_probe':
      return `is ${body.root} complete? ${asked(body.phase)} [vote ${body.ballot}, by ${body.peer}]`;
    case 'completion_vote': {
      const { peer, root, ballot, phase, ready, why } = body;
      const answer = ready ? `has nothing left to do for ${root}` : `still works on ${root}${why ? `: ${why}` : ''}`;
      return `${peer} ${answer}, ${asked(phase)} [vote ${ballot}]`;
    }
    case 'deadlock':
      return `deadlock: ${cycleText(body.cycle)}; ${body.victim} gives way, ${body.cancelled} is cancelled: ${body.rule}`;
  }
}

function asked(phase: 1 | 2 = 1): string {
  return phase === 1 ? 'asked once' : 'asked again';
}

/** ` by ben`; empty if no agent provided it, such as a free resource or an ended task. */
export function byWhom(provider: string): string {
  return provider === ENGINE ? '' : ` by ${provider}`;
}

const FIELD_NAMES: Record<string, string> = { dataType: 'kind of data' };

function wanted(requirements: Record<string, unknown>): string {
  const { need, ...rest } = requirements;
  const more = Object.entries(rest).map(
    ([key, value]) => `${FIELD_NAMES[key] ?? key}: ${Array.isArray(value) ? value.join(', ') : String(value)}`,
  );
  return `${String(need ?? '')}${more.length === 0 ? '' : ` (${more.join('; ')})`}`;
}
