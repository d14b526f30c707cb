/** The open requests as text or JSON. */
import type { Desk } from '../../../app/approvals.js';
import { ASKED_AGAIN } from '../../../views/own-words.js';
import { EXIT, type Call } from '../../args/command.js';
import { requestLines } from '../../render/request.js';

export function list(desk: Desk, { terminal, json }: Call): number {
  const open = desk.list();
  const foreign = desk.foreign();
  if (json) terminal.json(open);
  for (const request of json ? [] : open) for (const line of requestLines(request, terminal)) terminal.out(line);
  if (open.length > 0 && !json)
    terminal.say('answer at a terminal with guild inbox, or with guild approve, reject, edit or answer and the id');
  if (foreign > 0) terminal.say(foreignText(foreign));
  else if (open.length === 0 && !json) terminal.say('nothing waits for you');
  return open.length + foreign > 0 ? EXIT.waiting : EXIT.done;
}

/** For requests that came with the folder, before a process has asked again. */
export function foreignText(count: number): string {
  const [who, they] = count === 1 ? ['1 request was', 'it is'] : [`${count} requests were`, 'they are'];
  return `${who} not made on this machine and ${they} not shown; ${ASKED_AGAIN}`;
}
