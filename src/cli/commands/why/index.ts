/** `guild why`: what a task waits for, who asked for it, and what has happened to it. */
import { openEvents } from '../../../app/readers/log/open-events.js';
import { openShown } from '../../../app/approvals.js';
import { originOf, storyOf } from '../../../app/readers/why/story.js';
import { sharesOf, waitChain } from '../../../app/readers/why/wait-chain.js';
import { ProblemError, problemText } from '../../../domain/problem.js';
import { localDay, localTime, withLocalTimes, zone } from '../../../views/local-time.js';
import { EXIT, type Command } from '../../args/command.js';
import { idOf, unknownTask } from '../task/id.js';
import { oneLine, wrapped, wrappedLines } from '../../render/layout.js';
import { printable } from '../../render/paint.js';
import { progressOn } from '../../render/progress.js';
import { costText } from '../task/show.js';

export const command: Command = {
  usage: 'why <task>',
  about: `
Explains why a task is in its state: what it waits for, down to the last link of the chain; how much of its budget its open
children hold; who asked for it; and what happened: turns, tools, requests to others, approvals and cost.

With --json it also prints every event and the nodes of the chain: task ids, turn:…, agent:…, budget:… and @human.`,
  maxWords: 1,
  async run({ words, root, terminal, json, io }) {
    const id = idOf({ words, root }, 'why');
    const store = openShown(root, io.env);
    await store.tasks.scan(true);
    const placed = await store.tasks.read(id);
    if (placed === undefined) throw new ProblemError(store.tasks.unreadable(id) ?? unknownTask(id, root));
    const { lines, nodes } = await waitChain(root, io.env, store, placed);
    const chain = lines.map(printable);
    const { seen: log } = await openEvents(root, { store, onProgress: progressOn(terminal, 'indexing') });
    const events = log.events((_, task) => task === id);
    for (const event of events.filter(({ name }) => name === 'work.stuck'))
      chain.push(printable(`stuck: ${String(event['why'])}`));
    const origin = (await originOf(store, log, placed)).map(printable);
    const story = storyOf(log, placed);
    const cost = placed.task.usage && costText(placed.task.usage);
    const shares = sharesOf(store, placed).map(printable);
    if (json) {
      terminal.json({ id, state: placed.state, chain, nodes, shares, origin, story, cost, events });
      return EXIT.done;
    }
    const print = (text: string): void => {
      for (const line of wrappedLines(text, terminal.width)) terminal.out(line);
    };
    for (const [i, line] of chain.entries()) print(`${'  '.repeat(i)}${i > 0 ? '→ ' : ''}${withLocalTimes(line)}`);
    for (const line of shares) print(line);
    if (placed.task.error) print(`\n${problemText(placed.task.error)}`);
    terminal.out('');
    for (const [i, line] of origin.entries())
      terminal.out(`${'  '.repeat(i)}${i > 0 ? '→ ' : ''}${oneLine(line, terminal.width - 2 * i - 2)}`);
    let day = '';
    for (const { at, text } of story) {
      const today = `${localDay(at)} (local time, UTC${zone(at)})`;
      if (today !== day) terminal.out(`\n${terminal.dim(today)}`);
      day = today;
      for (const line of wrapped(`${terminal.dim(localTime(at))} ${printable(withLocalTimes(text))}`, terminal.width))
        terminal.out(line);
    }
    if (cost !== undefined) {
      terminal.out('');
      for (const line of wrapped(`cost, with everything under it: ${cost}`, terminal.width)) terminal.out(line);
    }
    return EXIT.done;
  },
};
