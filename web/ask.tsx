/** A small dialog with one text. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { SEND_KEY } from './keys.ts';

interface AskProps {
  title: string;
  label: string;
  start?: string;
  close: () => void;
  done: (text: string) => Promise<void>;
}

export function Ask({ title, label, start = '', close, done }: AskProps): JSX.Element {
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => box.current?.focus(), []);
  const finish = (): void => void done(box.current?.value ?? '');
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') close();
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) finish();
  };
  return (
    <div class="over">
      <div class="panel form" role="dialog" aria-label={title} onKeyDown={onKey}>
        <header>
          <h2>{title.replace('…', '')}</h2>
        </header>
        <div class="b">
          <label>
            {label}
            <textarea ref={box} class={start === '' ? '' : 'code'} rows={start === '' ? 3 : 16} defaultValue={start} />
          </label>
          <div class="acts">
            <button type="button" class="btn" onClick={close}>
              Back <kbd>Esc</kbd>
            </button>
            <button type="button" class="btn pri" onClick={finish}>
              {title.replace('…', '')} <kbd>{SEND_KEY}</kbd>
            </button>
          </div>
        </div>
      </div>
    </div>
  );
}
