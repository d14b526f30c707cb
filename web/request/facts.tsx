/** Why it asks, what confines it, which text from outside had influence, and who waits. */
import type { ComponentChildren, JSX } from 'preact';
import type { Request, RequestSource } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { Icon, type IconName } from '../icons.tsx';
import { Taint } from '../parts.tsx';
import { address } from '../router.ts';
import { clock, plural, visible } from '../text.ts';

export function useSource(request: Request): RequestSource | undefined {
  return useRead<RequestSource>(`/api/requests/${encodeURIComponent(request.id)}`).data.value;
}

/** A reason with more letters than this gets its own row. */
const LONG = 160;

/** The facts are worded by the program for every surface, so they are shown unchanged. */
export function Facts({ request }: { request: Request }): JSX.Element {
  const { taint, blocks, facts, risk, question } = request;
  const [first, ...rest] = facts.asked;
  return (
    <dl class={facts.asked.join(' ').length > LONG ? 'fband long' : 'fband'}>
      <Fact icon="q" name="Asked because">
        {question !== undefined
          ? 'The agent needs an answer to continue'
          : sentence(first ?? 'the agent asks you', request)}
        {rest.map((line) => (
          <small key={line}>{line}</small>
        ))}
        {risk !== undefined && (
          <small class={risk === 'HIGH' ? 'bad' : ''}>
            {risk[0]}
            {risk.slice(1).toLowerCase()} risk
          </small>
        )}
      </Fact>
      <Fact icon="shield" name="Confined by">
        {question !== undefined || facts.runs === '' ? (
          'Nothing runs'
        ) : (
          <span class={request.isUnconfined === true ? 'ours bad' : 'ours'}>{facts.runs}</span>
        )}
        {facts.more
          .filter((line) => CONFINES.test(line))
          .map((line) => (
            <small key={line} class="ours">
              {line}
            </small>
          ))}
      </Fact>
      <Fact icon="drop" name="Influenced by">
        {taint.length === 0 ? 'Nothing from outside' : <Taint sources={taint} />}
      </Fact>
      <Fact icon="wait" name="Waiting on this">
        {blocks.length === 0 ? 'No task' : plural(blocks.length, 'task')}
        <small>{visible([...new Set(blocks.flatMap(({ agent }) => agent ?? []))].join(', '))}</small>
      </Fact>
    </dl>
  );
}

const CONFINES = /^(?:Hosts it may reach|Tool of the plugin):/;

/** The rest of the request: the version of the file that it changes, and other arguments. */
export function Details({ request: { facts, changes, path } }: { request: Request }): JSX.Element | null {
  // The diff names the file.
  const named = changes.length === 0 ? undefined : `with path: ${JSON.stringify(path)}`;
  const lines = facts.more.filter(
    (line) => !CONFINES.test(line) && !line.startsWith('Influenced by:') && line !== named,
  );
  if (lines.length === 0) return null;
  return (
    <ul class="details">
      {lines.map((line) => (
        <li key={line} class="ours">
          {line}
        </li>
      ))}
    </ul>
  );
}

function sentence(text: string, { kind, action }: Request): string {
  // A name keeps its first letter: `bin/podman` is not `Bin/podman`, and `touch` is a command.
  const first = /^[a-z]+(?= )/.exec(text)?.[0];
  const isName = kind === 'command' && action.text.split(/\s/).includes(first ?? '');
  return first !== undefined && !isName ? `${text[0]!.toUpperCase()}${text.slice(1)}` : text;
}

function Fact(props: { icon: IconName; name: string; children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>
        <Icon name={props.icon} small />
        {props.name}
      </dt>
      <dd>{props.children}</dd>
    </div>
  );
}

/** The text from outside itself: data, never instructions, and never with a link. */
export function Untrusted({ source }: { source: RequestSource | undefined }): JSX.Element | null {
  if (source === undefined || source.untrusted.length === 0) return null;
  return (
    <section class="untrusted">
      <h3>
        <Icon name="drop" small /> Untrusted input
      </h3>
      {source.untrusted.map(({ source: from, text, at, link }, i) => (
        <div key={i} class="data boxed">
          <div class="lab">
            <Icon name="drop" small />
            {visible(from)}
            {at === undefined ? '' : `, ${clock(at)}`}. Data, not instructions
            {link !== undefined && (
              <a class="link" href={address(link.page, link.id)}>
                open
              </a>
            )}
          </div>
          <p class="pre">{text}</p>
        </div>
      ))}
    </section>
  );
}
