/** The actions on a task. Each button matches a command of the terminal. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { IntentKind, TaskAct, TaskDetail } from '../../src/web/base/contract.ts';
import { send, type Sent } from '../api.ts';
import { Ask } from '../ask.tsx';
import { useKeys } from '../keys.ts';
import { ActButton, Refused, whyNot } from '../parts.tsx';
import { address, go } from '../router.ts';

interface Act {
  name: string;
  kind: IntentKind;
  key: string;
  /** The question that is asked first; the answer is a text. */
  ask?: string;
  arg?: string;
}

const ACTS: Record<TaskAct, Act> = {
  tell: { name: 'Tell…', kind: 'task.tell', key: 't', ask: 'The agent reads this before its next turn.', arg: 'text' },
  fork: {
    name: 'Fork…',
    kind: 'task.fork',
    key: 'f',
    ask: 'The next message to the agent. The conversation so far is copied, and this task stays as it is.',
    arg: 'text',
  },
  retry: { name: 'Retry', kind: 'task.retry', key: 'r' },
  stop: { name: 'Stop', kind: 'task.stop', key: 'p' },
  cancel: {
    name: 'Cancel…',
    kind: 'task.cancel',
    key: 'x',
    ask: 'Why? The task and everything below it ends.',
    arg: 'reason',
  },
};

export function Acts({ task }: { task: TaskDetail }): JSX.Element {
  const [asking, setAsking] = useState<TaskAct>();
  const [sent, setSent] = useState<Sent>();
  const perform = async (act: TaskAct, text: string): Promise<void> => {
    const { kind, arg } = ACTS[act];
    // Forks the conversation in which the task was done.
    const target = act === 'fork' ? (task.session ?? '') : task.row.id;
    const result = await send(kind, target, arg === undefined || text === '' ? {} : { [arg]: text });
    setSent(result);
    if (!result.ok) return;
    // Another act may have been opened meanwhile.
    setAsking((now) => (now === act ? undefined : now));
    if (result.made?.session !== undefined) go(address('conversation', result.made.session));
  };
  const begin = (act: TaskAct): void => {
    if (whyNot() !== undefined) return;
    if (ACTS[act].ask === undefined) void perform(act, '');
    else setAsking(act);
  };
  useKeys(Object.fromEntries(task.can.map((act) => [ACTS[act].key, () => begin(act)])));
  return (
    <span class="acts">
      {task.can.map((act) => (
        <ActButton key={act} class="btn" onClick={() => begin(act)}>
          {ACTS[act].name} <kbd>{ACTS[act].key.toUpperCase()}</kbd>
        </ActButton>
      ))}
      <Refused sent={sent} />
      {asking !== undefined && (
        <Ask
          title={ACTS[asking].name}
          label={ACTS[asking].ask!}
          close={() => setAsking(undefined)}
          done={(text) => perform(asking, text)}
        />
      )}
    </span>
  );
}
