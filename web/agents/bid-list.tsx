/** Offers of tasks: who bid how much, how it was weighed, and who got the task. */
import type { JSX } from 'preact';
import type { BidRow, Bids } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { Empty, Loaded, TaskLink } from '../parts.tsx';
import { ago, visible } from '../text.ts';

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
            offers.map((offer) => <Offer key={`${offer.task.id} ${offer.at}`} offer={offer} />)
          )
        }
      </Loaded>
    </div>
  );
}

function Offer({ offer: { task, at, agent, bids } }: { offer: Bids['offers'][number] }): JSX.Element {
  return (
    <section class="panel">
      <header>
        <h2 class="one">
          <TaskLink {...task} />
        </h2>
        <span class="r">
          {agent === undefined ? 'nobody' : visible(agent)}, {ago(at)}
        </span>
      </header>
      {bids.map((bid) => (
        <Bid key={bid.agent} bid={bid} />
      ))}
    </section>
  );
}

const FITNESS_MAX = 10;

function Bid({ bid }: { bid: BidRow }): JSX.Element {
  return (
    <div class="row bidrow">
      <span class={bid.verdict === 'awarded' ? 'chip s-done' : 'chip s-off'}>{bid.verdict}</span>
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
