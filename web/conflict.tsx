/** A save met another edit: both versions side by side, and none is lost without a decision. */
import type { JSX } from 'preact';
import { visible } from './text.ts';

interface ConflictProps {
  mine: string;
  theirs: string;
  /** Each choice is named after its effect on your version. */
  acts: { name: string; act: () => void; isMain?: boolean }[];
}

export function ConflictView({ mine, theirs, acts }: ConflictProps): JSX.Element {
  return (
    <section class="conflict" aria-label="Two versions">
      <div>
        <h3>Theirs, as it is now</h3>
        <pre class="file">{visible(theirs)}</pre>
      </div>
      <div>
        <h3>Yours, not saved</h3>
        <pre class="file">{visible(mine)}</pre>
      </div>
      <span class="acts">
        {acts.map(({ name, act, isMain }) => (
          <button key={name} type="button" class={isMain === true ? 'btn pri' : 'btn'} onClick={act}>
            {name}
          </button>
        ))}
      </span>
    </section>
  );
}
