/** A goal check between two messages: the answer, and on a click the reason. */
import type { JSX } from 'preact';
import type { ShownCheck } from '../../src/web/base/contract.ts';
import { Icon } from '../icons.tsx';
import { address } from '../router.ts';
import { clock, duration, money, visible } from '../text.ts';

const WORDS: Record<ShownCheck['verdict'], string> = {
  yes: 'Check: yes',
  no: 'Check: no',
  none: 'Check failed',
  open: 'Being checked',
};

export function Check({ check }: { check: ShownCheck }): JSX.Element {
  const { verdict, at, model, ms, microUsd, reason, task } = check;
  const facts = [
    clock(at),
    model === undefined ? '' : visible(model),
    ms === undefined ? '' : duration(ms),
    microUsd === 0 ? '' : money(microUsd),
  ];
  return (
    <div class="checkline">
      <a class="chip s-check" href={address('task', task)} title={visible(reason)}>
        <Icon name="shield" /> {WORDS[verdict]}
      </a>
      <span class="dim">{facts.filter(Boolean).join(' · ')}</span>
    </div>
  );
}
