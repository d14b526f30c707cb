/** Notes by channel: state changes, requests for help, and what agents say to each other. */
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Channels } from '../../src/web/base/contract.ts';
import { hello, send, useRead, type Sent } from '../api.ts';
import { ActButton, Empty, Loaded, Panel, Refused } from '../parts.tsx';
import { address } from '../router.ts';
import { agentText, ago, clock, plural, visible } from '../text.ts';

export function Notes({ channel }: { channel: string }): JSX.Element {
  const read = useRead<Channels>(`/api/notes${channel === '' ? '' : `?channel=${encodeURIComponent(channel)}`}`);
  return (
    <div class="page">
      <div class="head">
        <h1>Notes</h1>
        <span class="meta">Messages of agents and people, by channel</span>
      </div>
      <Loaded read={read} rows={6}>
        {(notes) => (
          <div class="graph wide-left">
            <Panel title="Channels">
              <ul class="list">
                {notes.channels.map((each) => (
                  <li key={each.channel}>
                    <a
                      class="link one"
                      href={address('notes', each.channel)}
                      aria-current={each.channel === channel ? 'true' : undefined}
                    >
                      {visible(each.channel)}
                    </a>
                    <span class="r">
                      {each.notes === 0 ? 'empty' : plural(each.notes, 'note')}
                      {each.at !== undefined && ` · ${ago(each.at)}`}
                    </span>
                  </li>
                ))}
              </ul>
            </Panel>
            {channel === '' ? (
              <Empty icon="notes" title="Choose a channel" />
            ) : (
              <Panel title={channel} count={notes.notes.length}>
                <Tell channel={channel} />
                <ul class="list notes">
                  {notes.notes.map((note, i) => (
                    <li key={i}>
                      <time class="dim">{clock(note.at)}</time>
                      <b>{agentText(note.from)}</b>
                      <span class="pre">{visible(note.text)}</span>
                    </li>
                  ))}
                </ul>
              </Panel>
            )}
          </div>
        )}
      </Loaded>
    </div>
  );
}

function Tell({ channel }: { channel: string }): JSX.Element | null {
  const box = useRef<HTMLInputElement>(null);
  const [sent, setSent] = useState<Sent>();
  const tell = async (): Promise<void> => {
    const result = await send('note.tell', channel, { text: box.current?.value ?? '' });
    setSent(result);
    if (result.ok && box.current !== null) box.current.value = '';
  };
  if (hello.value?.readOnly === true) return null;
  return (
    <div class="b">
      <Refused sent={sent} />
      <div class="bx">
        <input
          ref={box}
          aria-label={`Say something on ${channel}`}
          placeholder="Say something on this channel"
          onKeyDown={(event) => void (event.key === 'Enter' && tell())}
        />
        <ActButton class="btn" onClick={() => void tell()}>
          Tell
        </ActButton>
      </div>
    </div>
  );
}
