/** An agent's file: shown, edited, checked while typing, and never saved over another edit. */
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { AgentChecked, AgentFile, AgentList, AgentSchema } from '../../src/web/base/contract.ts';
import { checkAgent, readOnce, send, type Sent } from '../api.ts';
import { ConflictView } from '../conflict.tsx';
import { ActButton, ProblemBox, Refused } from '../parts.tsx';
import { address, go } from '../router.ts';
import { plural, visible } from '../text.ts';
import type { OpenEditor } from './codemirror.ts';
import { SEND_KEY } from '../keys.ts';

export function AgentText({ file }: { file: AgentFile }): JSX.Element {
  const [isEditing, setEditing] = useState(false);
  if (isEditing)
    return (
      <Editor name={file.name} path={file.file} start={file.text} seen={file.seen} close={() => setEditing(false)} />
    );
  return (
    <>
      <div class="filehead">
        <span>
          In your editor <code>{visible(file.file)}</code>
        </span>
        <ActButton class="btn sm" onClick={() => setEditing(true)}>
          Edit file
        </ActButton>
      </div>
      <pre class="file">
        <Coloured text={visible(file.text)} />
      </pre>
    </>
  );
}

/** The keys of the frontmatter, which are highlighted. */
function Coloured({ text }: { text: string }): JSX.Element {
  const head = /^---\n[^]*?\n---\n/.exec(text)?.[0] ?? '';
  return (
    <>
      {head.split(/^(\s*[\w-]+)(?=:)/m).map((part, i) => (i % 2 === 0 ? part : <span class="kw">{part}</span>))}
      {text.slice(head.length)}
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
  const first = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => first.current?.focus(), []);
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
              ref={first}
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

/** For each of these keys of an agent file, the names that can be its values. */
async function wordsHere(): Promise<Record<string, string[]>> {
  const agents = (await readOnce<AgentList>('/api/agents'))?.agents ?? [];
  const names = agents.map(({ name }) => name);
  const tools = [...new Set(agents.flatMap((agent) => agent.tools))].sort();
  return { tools, agents: names, advisors: names, handoff: names, routes: names, members: names };
}

interface EditorProps {
  name: string;
  path: string;
  start: string;
  seen: string | undefined;
  close: () => void;
}

function Editor({ name, path, start, seen: shown, close }: EditorProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<OpenEditor>(undefined);
  const seen = useRef(shown);
  // The name of a new agent is typed while its editor is open.
  const file = useRef(path);
  file.current = path;
  const [checked, setChecked] = useState<AgentChecked>({ problems: [], warnings: [] });
  const [sent, setSent] = useState<Sent>();
  const save = useRef<() => void>(() => undefined);
  save.current = () => {
    void send('agent.write', name, { text: editor.current?.text() ?? start }, seen.current).then((result) => {
      setSent(result);
      if (!result.ok) return;
      close();
      go(address('agents', name));
    });
  };
  useEffect(() => {
    let isOpen = true;
    const loaded = Promise.all([import('./codemirror.ts'), readOnce<AgentSchema>('/api/schemas/agent'), wordsHere()]);
    void loaded.then(([{ openEditor }, schema, words]) => {
      if (!isOpen || place.current === null) return;
      editor.current = openEditor({
        parent: place.current,
        text: start,
        label: `Text of ${path}`,
        save: () => save.current(),
        schema: schema ?? { keys: [] },
        words,
        async check(text) {
          const found = await checkAgent(file.current, text);
          setChecked(found);
          return found.problems;
        },
      });
    });
    return () => {
      isOpen = false;
      editor.current?.close();
    };
  }, []);
  const isBad = checked.problems.length > 0;
  return (
    <div class="editor">
      <Refused sent={sent} />
      {sent?.ok === false && sent.theirs !== undefined && (
        <ConflictView
          mine={editor.current?.text() ?? ''}
          theirs={sent.theirs}
          acts={[
            {
              name: 'Use theirs',
              act() {
                seen.current = sent.seen;
                editor.current?.replace(sent.theirs!);
                setSent(undefined);
              },
            },
            {
              name: 'Keep mine, and save again',
              act() {
                seen.current = sent.seen;
                setSent(undefined);
              },
              isMain: true,
            },
          ]}
        />
      )}
      <div class="codebox" ref={place} />
      {checked.problems.map((each, i) => (
        <ProblemBox key={i} problem={each} />
      ))}
      {checked.warnings.map((each, i) => (
        <p key={i} class="dim">
          {visible(each.message)}
        </p>
      ))}
      <div class="acts">
        <span class={isBad ? 'bad' : 'ok'}>{isBad ? plural(checked.problems.length, 'problem') : 'No problems'}</span>
        <button type="button" class="btn" onClick={close}>
          Back
        </button>
        <ActButton class="btn pri" disabled={isBad || name === ''} onClick={() => save.current()}>
          Save <kbd>{SEND_KEY}</kbd>
        </ActButton>
      </div>
    </div>
  );
}
