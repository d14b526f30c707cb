/** The open requests as text or JSON. */
import type { Desk } from '../../../app/approvals.js';
import { EXIT, type Call } from '../../args/command.js';
import { requestLines } from '../../render/request.js';

export function list(desk: Desk, { terminal, json }: Call): number {
  const open = desk.list();
  if (json) terminal.json(open);
  for (const request of json ? [] : open) for (const line of requestLines(request, terminal)) terminal.out(line);
  if (!json && open.length === 0) terminal.say('nothing waits for you');
  return open.length > 0 ? EXIT.waiting : EXIT.done;
}
