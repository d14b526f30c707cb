/** The next message to an agent. An ended conversation continues with it as a new task. */
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Conversation } from '../../src/web/base/contract.ts';
import { hello, send, type Sent } from '../api.ts';
import { ActButton, Refused, TaskLink, whyNot } from '../parts.tsx';
import { visible } from '../text.ts';
import { Asking } from './asking.tsx';
import { matching, mentionIn, MentionList, useAgentNames } from './mention.tsx';
import { SEND_KEY } from '../keys.ts';

interface Said {
  text: string;
  total: number;
  /** The other agent that the message went to, and the task that it became. */
  to?: { agent: string; task: string };
}

export function Composer({ talk }: { talk: Conversation }): JSX.Element | null {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [sent, setSent] = useState<Sent>();
  const [said, setSaid] = useState<Said>();
  const box = useRef<HTMLTextAreaElement>(null);
  const names = useAgentNames();
  if (talk.task === undefined || hello.value?.readOnly === true) return null;
  const { id, state } = talk.task;
  const found = matching(names, text);
  const chosen = Math.min(at, found.length - 1);
  const say = async (): Promise<void> => {
    if (text.trim() === '' || whyNot() !== undefined) return;
    const { result, to } = await delivered(id, talk.agent, names, text);
    setSent(result);
    if (!result.ok) return;
    setText('');
    setSaid({ text, total: talk.total, ...(to === undefined ? {} : { to }) });
  };
  const choose = (name: string): void => {
    setText(`@${name} `);
    setAt(0);
    box.current?.focus();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') box.current?.blur();
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) return void say();
    if (found.length === 0) return;
    if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, chosen + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, chosen - 1));
    else if (event.key === 'Enter' || event.key === 'Tab') choose(found[chosen]!);
    else return;
    event.preventDefault();
  };
  const isOpen = state !== 'completed' && state !== 'failed';
  const about = isOpen ? 'it reads it before its next turn' : 'it continues this conversation';
  return (
    <div class="comp">
      <Asking talk={talk} />
      <Refused sent={sent} />
      <Outcome said={said} total={talk.total} />
      <MentionList names={found} chosen={chosen} choose={choose} />
      <div class="bx">
        <textarea
          ref={box}
          rows={1}
          value={text}
          aria-label={`Message ${visible(talk.agent)}`}
          aria-autocomplete="list"
          aria-controls={found.length === 0 ? undefined : 'mentions'}
          aria-activedescendant={found.length === 0 ? undefined : `mention-${chosen}`}
          title={`Message ${visible(talk.agent)}; ${about}`}
          placeholder={`Message ${visible(talk.agent)}, or @mention another agent`}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKey}
        />
        <ActButton class="btn pri" onClick={() => void say()}>
          Send <kbd>{SEND_KEY}</kbd>
        </ActButton>
      </div>
    </div>
  );
}

interface Delivered {
  result: Sent;
  to?: Said['to'];
}

/** To this conversation, or to the agent that the message names. */
async function delivered(task: string, here: string, names: readonly string[], text: string): Promise<Delivered> {
  const mention = mentionIn(text);
  if (mention === undefined) return { result: await send('task.tell', task, { text }) };
  const { name: agent, rest } = mention;
  const wrong = (message: string): Delivered => ({
    result: { ok: false, problem: { code: 'unknown_agent', message } },
  });
  if (!names.includes(agent)) return wrong(`there is no agent ${agent}; nothing was sent`);
  if (rest.trim() === '') return wrong(`write what ${agent} should do after its name`);
  if (agent === here) return { result: await send('task.tell', task, { text: rest }) };
  const result = await send('task.add', '', { to: agent, description: rest });
  const made = result.ok ? result.made?.task : undefined;
  return made === undefined ? { result } : { result, to: { agent, task: made } };
}

function Outcome({ said, total }: { said: Said | undefined; total: number }): JSX.Element | null {
  if (said === undefined) return null;
  if (said.to !== undefined)
    return (
      <p class="dim bx">
        <span class="one">
          Sent to {visible(said.to.agent)} as a task: <TaskLink id={said.to.task} title={mentionIn(said.text)!.rest} />
        </span>
      </p>
    );
  if (said.total !== total) return null;
  return (
    <p class="dim bx">
      <span class="one">Sent: “{visible(said.text)}”. It is in the conversation as soon as the agent reads it.</span>
    </p>
  );
}
