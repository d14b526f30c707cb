/** Offers of tasks, by run: who bid how much, how it was weighed, and who got the task. */
import type { JSX } from 'preact';
import type { BidRow, Bids } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { Icon } from '../icons.tsx';
import { Empty, Loaded, TaskLink } from '../parts.tsx';
import { ago, plural, visible } from '../text.ts';

type Offered = Bids['offers'][number];

export function BidList(): JSX.Element {
  const read = useRead<Bids>('/api/bids');
  return (
    <div class="stack">
      <Loaded read={read}>
        {({ offers }) =>
          offers.length === 0 ? (
            <section class="panel">
              <Empty icon="agents" title="No agent has bid yet">
                A task that names no agent is offered to those that can do it. Their bids are shown here.
              </Empty>
            </section>
          ) : (
            byRun(offers).map((group, i) => <Run key={group[0]!.run.id} offers={group} isOpen={i === 0} />)
          )
        }
      </Loaded>
    </div>
  );
}

function byRun(offers: readonly Offered[]): Offered[][] {
  const groups = new Map<string, Offered[]>();
  for (const offer of offers) groups.set(offer.run.id, [...(groups.get(offer.run.id) ?? []), offer]);
  return [...groups.values()];
}

function Run({ offers, isOpen }: { offers: readonly Offered[]; isOpen: boolean }): JSX.Element {
  const { run } = offers[0]!;
  return (
    <section class="panel">
      <header>
        <h2 class="one">
          <TaskLink {...run} />
        </h2>
        <span class="r">{plural(offers.length, 'offer')}</span>
      </header>
      {offers.map((offer, i) => (
        <Offer key={`${offer.task.id} ${offer.at}`} offer={offer} isOpen={isOpen && i === 0} />
      ))}
    </section>
  );
}

/** Folded to its outcome. */
function Offer({ offer: { task, at, agent, bids }, isOpen }: { offer: Offered; isOpen: boolean }): JSX.Element {
  const best = bids.find(({ verdict }) => verdict === 'awarded')?.score;
  return (
    <details class="offer" open={isOpen}>
      <summary>
        <Icon name="right" small />
        <span class="one">{visible(task.title)}</span>
        <span class="r">
          {agent === undefined ? 'nobody' : <b>{visible(agent)}</b>}
          {best === undefined ? '' : ` ${best.toFixed(1)}`} · {plural(bids.length, 'bid')} · {ago(at)}
        </span>
      </summary>
      {bids.map((bid) => (
        <Bid key={bid.agent} bid={bid} />
      ))}
    </details>
  );
}

const FITNESS_MAX = 10;

function Bid({ bid }: { bid: BidRow }): JSX.Element {
  return (
    <div class="row bidrow">
      <span class={bid.verdict === 'awarded' ? 'chip s-done' : 'chip s-off'}>{visible(bid.verdict)}</span>
      <span class="main">
        <b>{visible(bid.agent)}</b> <span class="mid">{visible(bid.said)}</span>
        <span class="w one">{visible(bid.record)}</span>
      </span>
      <meter class="bar" min={0} max={FITNESS_MAX} value={bid.score ?? 0} aria-label="Score" />
      <span class="num" title={`needs ${bid.threshold}`}>
        {bid.score === undefined ? '–' : bid.score.toFixed(1)}
      </span>
    </div>
  );
}
