/** Says, for people, why an answer does not count and the action is asked again. */
import type { ApprovalRequest, Approval } from '../../domain/task/approval.js';
import type { Task } from '../../domain/task/task.js';
import type { EngineContext } from '../core/context.js';

type Context = Pick<EngineContext, 'consent' | 'content' | 'desk' | 'presence'>;

/** For the context of a request: where it would run. Absent where all work is on one machine. */
export function machineOf({ desk, presence }: Pick<Context, 'desk' | 'presence'>): { machine?: string } {
  return desk === undefined ? {} : { machine: presence.peer.host };
}

/** Words that say what would happen, and that the digest does not cover. */
export function hasSameWords(one: ApprovalRequest, other: ApprovalRequest): boolean {
  return one.title === other.title && one.diff === other.diff;
}

/** `before`: the request whose answer does not count. */
export function whyAgain(
  context: Context,
  before: { task: Task; approval: Approval | undefined },
  now: ApprovalRequest,
): string {
  const request = before.approval?.request;
  // Nobody was shown a foreign request, so there is nothing to compare.
  if (request !== undefined && !context.consent.isSealed(before.task.id, request))
    return 'the earlier request was not made on this machine, and was not shown';
  const changes = changesSince(context, request, now);
  const { machine: here } = machineOf(context);
  const there = before.task.context['machine'];
  if (here !== undefined && typeof there === 'string' && there !== here)
    changes.unshift(`it was asked on ${there}, and would now run on ${here}`);
  return changes.join('\n');
}

function changesSince({ content }: Context, before: ApprovalRequest | undefined, now: ApprovalRequest): string[] {
  if (before === undefined) return ['the earlier request cannot be read'];
  if (before.digest === now.digest && !hasSameWords(before, now))
    return ['the words of the earlier request did not match its action'];
  // Only the key that signed the answer can be the reason.
  if (before.digest === now.digest) return ['the earlier answer has no signature that counts here'];
  const changes: string[] = [];
  if (now.walls === 'none' && before.walls === 'sandbox')
    changes.push('the sandbox is gone: the command would now run without it');
  else if (now.confinement !== before.confinement)
    changes.push(`it would run differently from what you saw: ${now.confinement}`);
  const { base } = before;
  if (base !== undefined && (base.path !== now.base?.path || base.sha256 !== now.base.sha256))
    changes.push(`${base.path} has changed; the diff below is against its current text`);
  if (before.content !== undefined && now.content !== undefined && before.content.digest !== now.content.digest)
    changes.push(content.changes(before.content, now.content));
  return changes.length > 0 ? changes : ['the action is not exactly the one that you saw'];
}
