/** Beside a broken file: the version that the agent worked with last, and a way to restore it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AgentFile } from '../../src/web/base/contract.ts';
import { send, type Sent } from '../api.ts';
import { ActButton, Refused } from '../parts.tsx';
import { Diff } from '../request/diff.tsx';
import { clock, when } from '../text.ts';

export function LastValid({ file }: { file: AgentFile }): JSX.Element {
  const [sent, setSent] = useState<Sent>();
  const { lastValid } = file;
  if (lastValid === undefined)
    return <p class="dim">No valid version is known: this agent has not worked yet, or not since its file changed.</p>;
  const { text, at, changes } = lastValid;
  return (
    <section class="lastvalid" aria-label="Last valid version">
      <p>
        A process that was running when the file broke continues with its last valid version, which the agent worked
        with at {clock(at)}, {when(at)}. This has changed since:
      </p>
      <Refused sent={sent} />
      <Diff lines={changes} path={file.file} isNarrow />
      <ActButton class="btn sm" onClick={() => void send('agent.write', file.name, { text }, file.seen).then(setSent)}>
        Go back to the last valid version
      </ActButton>
    </section>
  );
}
