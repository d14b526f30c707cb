/**
 * The subscribing process of state-changes.ts: reports each state change and its time of arrival.
 */
import { openReader } from '../../src/app/readers/open-reader.js';
import { openStates } from '../../src/app/readers/open-states.js';

const view = openStates(process.argv[2]!, process.env, openReader(process.argv[2]!));
view.follow(({ body }) => {
  const at = process.hrtime.bigint();
  if (body.type === 'state_change') process.send!([body.trigger, String(at)]);
});
process.send!('ready');
setInterval(() => undefined, 60_000);
