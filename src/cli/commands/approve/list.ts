/** The open requests as text or JSON. */
import type { Desk } from '../../../app/approvals.js';
import { EXIT, type Call } from '../../args/command.js';
import { requestLines } from '../../render/request.js';

export function list(desk: Desk, { terminal, json }: Call): number {
  const open = desk.list();
  if (json) terminal.json(open);
  for (const request of json ? [] : open) for (const line of requestLines(request, terminal)) terminal.out(line);
  if (!json)
    terminal.say(
      open.length === 0
        ? 'nothing waits for you'
        : 'answer at a terminal with guild inbox, or with guild approve, reject, edit or answer and the id',
    );
  return open.length > 0 ? EXIT.waiting : EXIT.done;
}
