/** Opens the whole of a text that the program cut: it is stored beside its message or result. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call, hello } from './api.ts';
import { Icon } from './icons.tsx';
import { moment } from './moment.ts';
import { count, plural, visible } from './text.ts';

/** The program's own note at the place of the cut. */
const CUT = /\[… cut: (\d+) characters, \d+ lines in all; the whole text is storage\/blobs\/([0-9a-f]{64}) …\]/g;
/** More than this at once would make the page slow. */
const SHOWN = 200_000;

/** `of`: the address of what names the text, such as `sessions/s1`. Guests see no stored text. */
export function WholeText({ of, text }: { of: string; text: string | undefined }): JSX.Element | null {
  if (text === undefined || hello.value?.readOnly === true || moment.value !== undefined) return null;
  const cuts = new Map([...text.matchAll(CUT)].map(([, length, hash]) => [hash!, Number(length)]));
  return (
    <>
      {[...cuts].map(([hash, length]) => (
        <Stored key={hash} of={of} hash={hash} length={length} />
      ))}
    </>
  );
}

function Stored({ of, hash, length }: { of: string; hash: string; length: number }): JSX.Element {
  const [whole, setWhole] = useState<string>();
  const [wrong, setWrong] = useState('');
  const [shown, setShown] = useState(SHOWN);
  const open = async (): Promise<void> => {
    const reply = await call(`/api/${of}/texts/${hash}`, {}).catch(() => undefined);
    if (reply?.ok === true) setWhole(await reply.text());
    setWrong(reply === undefined ? 'The server does not answer.' : reply.ok ? '' : 'The stored text is gone.');
  };
  if (whole === undefined)
    return (
      <p class="whole">
        <button type="button" class="btn sm" onClick={() => void open()}>
          <Icon name="file" small /> Show the whole text, {plural(length, 'character')}
        </button>
        {wrong !== '' && <span role="alert">{wrong}</span>}
      </p>
    );
  return (
    <div class="whole">
      <div class="split">
        <code class="one">storage/blobs/{hash}</code>
        <button type="button" class="btn sm" onClick={() => setWhole(undefined)}>
          Close
        </button>
      </div>
      <pre class="data tallbox" tabIndex={0}>
        {visible(whole.slice(0, shown))}
      </pre>
      {whole.length > shown && (
        <button type="button" class="btn sm" onClick={() => setShown(shown + SHOWN)}>
          {count(whole.length - shown)} more characters
        </button>
      )}
    </div>
  );
}
