/** The file of an agent: shown, edited with a check while typing, and never saved over another edit. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AgentChecked, AgentFile } from '../src/web/base/contract.ts';
import { checkAgent, send, type Sent } from './api.ts';
import { ProblemBox, Refused, whyNot } from './parts.tsx';
import { address, go } from './router.ts';
import { visible } from './text.ts';

const CHECK_MS = 250;

export function AgentText({ file }: { file: AgentFile }): JSX.Element {
  const [isEditing, setEditing] = useState(false);
  if (isEditing)
    return (
      <Editor name={file.name} path={file.file} start={file.text} seen={file.seen} close={() => setEditing(false)} />
    );
  return (
    <>
      <button
        type="button"
        class="btn sm"
        disabled={whyNot() !== undefined}
        title={whyNot()}
        onClick={() => setEditing(true)}
      >
        Edit
      </button>
      <pre class="file">{visible(file.text)}</pre>
    </>
  );
}

const START = `---
description: What it is good at; others choose agents by this sentence
tools: [read_file, list_directory, search_files]
---
You are a careful colleague.

{{tool_descriptions}}

Work in small steps. Say what you found and where. If you cannot do what was asked, say so and why.
`;

export function NewAgent({ close }: { close: () => void }): JSX.Element {
  const [name, setName] = useState('');
  return (
    <div class="over">
      <div class="panel form broad" role="dialog" aria-label="New agent">
        <header>
          <h2>New agent</h2>
        </header>
        <div class="b">
          <label>
            Name
            <input
              value={name}
              spellcheck={false}
              placeholder="letters, digits, - and _"
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </label>
          <Editor name={name} path={`agents/${name || 'new'}.md`} start={START} seen={undefined} close={close} />
        </div>
      </div>
    </div>
  );
}

interface EditorProps {
  name: string;
  path: string;
  start: string;
  seen: string | undefined;
  close: () => void;
}

function Editor({ name, path, start, seen, close }: EditorProps): JSX.Element {
  const box = useRef<HTMLTextAreaElement>(null);
  const [checked, setChecked] = useState<AgentChecked>({ problems: [], warnings: [] });
  const [sent, setSent] = useState<Sent>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const check = (): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void checkAgent(path, box.current?.value ?? '').then(setChecked), CHECK_MS);
  };
  const save = async (): Promise<void> => {
    const result = await send('agent.write', name, { text: box.current?.value ?? '' }, seen);
    setSent(result);
    if (!result.ok) return;
    close();
    go(address('agents', name));
  };
  return (
    <div class="editor">
      <Refused sent={sent} />
      {sent?.ok === false && sent.theirs !== undefined && sent.theirs !== '' && (
        <details class="fold" open>
          <summary>The file as it is now</summary>
          <pre>{visible(sent.theirs)}</pre>
        </details>
      )}
      <textarea
        ref={box}
        rows={22}
        defaultValue={start}
        spellcheck={false}
        aria-label={`Text of ${path}`}
        onInput={check}
      />
      {checked.problems.map((each, i) => (
        <ProblemBox key={i} problem={each} />
      ))}
      {checked.warnings.map((each, i) => (
        <p key={i} class="dim">
          {visible(each.message)}
        </p>
      ))}
      <div class="acts">
        <button type="button" class="btn" onClick={close}>
          Back
        </button>
        <button
          type="button"
          class="btn pri"
          disabled={whyNot() !== undefined || checked.problems.length > 0 || name === ''}
          onClick={() => void save()}
        >
          Save
        </button>
      </div>
    </div>
  );
}
