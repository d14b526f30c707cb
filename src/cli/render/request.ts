/** A request on the terminal, as `domain/consent/draw` draws it, in colour and wrapped. */
import type { OpenRequest } from '../../app/approvals.js';
import { columnsOf } from './columns.js';
import { wrappedLines } from './layout.js';
import type { Terminal } from './terminal.js';

/** `withHead`: with the id, the risk and the agent, for a list. */
export function requestLines({ id, request, shown }: OpenRequest, terminal: Terminal, withHead = true): string[] {
  const { title, action, about, changes, risk } = shown;
  const word = risk === undefined ? '' : `  ${terminal.colour(risk === 'HIGH' ? 'red' : 'yellow', risk)}`;
  const body = action.text.split('\n');
  const isTitleEnough = body.length === 1 && title.endsWith(`: ${body[0]}`);
  const isDiffEnough = action.key === 'content' && request.diff !== undefined && request.diff !== '';
  // The prompt lists the choices again, each in one row.
  const choices = shown.question?.choices ?? [];
  const isMenuEnough =
    !withHead && choices.length > 0 && choices.every((choice) => columnsOf(choice) + MENU_COLUMNS <= terminal.width);
  const actionLines =
    body.length === 1 ? [`${action.key}: ${body[0]}`] : [`${action.key}:`, ...body.map((line) => `  ${line}`)];
  const lines = [
    ...(isTitleEnough && !withHead ? [] : [title]),
    ...(isDiffEnough ? [] : actionLines),
    ...about.slice(isMenuEnough ? choices.length + 1 : 0).map((line) => terminal.dim(line)),
    ...changes.map((line) => diffLine(line, terminal)),
  ];
  const head = withHead ? [`${terminal.bold(id)}${word}  @${request.agent}`] : [];
  return [...head, ...lines.flatMap((text) => wrappedLines(`  ${text}`, terminal.width))];
}

/** The mark and the number before a choice. */
const MENU_COLUMNS = 6;

function diffLine(line: string, terminal: Terminal): string {
  if (line.startsWith('@@ ')) return terminal.dim(line);
  if (line.startsWith('+ ')) return terminal.colour('green', line);
  return line.startsWith('- ') ? terminal.colour('red', line) : line;
}
