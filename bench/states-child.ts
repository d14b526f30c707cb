/** Another process that listens: it tells its parent each change of state it hears, and when. */
import { openStates } from '../src/app/readers/open-states.js';

const view = openStates(process.argv[2]!);
view.follow(({ body }) => {
  const at = process.hrtime.bigint();
  if (body.type === 'state_change') process.send!([body.trigger, String(at)]);
});
process.send!('ready');
setInterval(() => undefined, 60_000);
