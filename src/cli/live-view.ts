/** The tree of what is going on, redrawn in place on a terminal. Ended roots scroll away above it as plain lines. */
import type { Event } from '../app/index.js';
import type { Narrator } from './narrator.js';
import { oneLine, type Terminal } from './terminal.js';

interface Node {
  id: string;
  agent: string;
  mark: string;
  note: string;
  since: number;
}

const FRAME_MS = 100;

export function liveView(terminal: Terminal): Narrator {
  const nodes = new Map<string, Node>();
  let drawn = 0;
  let timer: NodeJS.Timeout | undefined;

  return {
    close() {
      clearTimeout(timer);
      timer = undefined;
      draw();
      drawn = 0;
    },
    text(task, _agent, text) {
      const node = nodes.get(task.id);
      if (node) node.note = (node.note.startsWith('“') ? node.note : '“') + text;
      soon();
    },
    event(event) {
      apply(event);
      soon();
    },
    problem(problem) {
      clear();
      terminal.problem(problem);
      draw();
    },
  };

  function apply(event: Event): void {
    const id = event.task;
    if (id === undefined) return;
    const detail = event as unknown as Record<string, unknown>;
    const node = nodes.get(id) ?? { id, agent: event.agent ?? '', mark: '·', note: '', since: Date.now() };
    if (event.agent) node.agent = event.agent;
    if (event.name === 'task.claimed') Object.assign(node, { mark: terminal.colour('yellow', '●'), note: 'thinking' });
    if (event.name === 'task.created') Object.assign(node, { mark: terminal.colour('cyan', '○'), note: '' });
    if (event.name === 'task.parked') Object.assign(node, { mark: terminal.colour('magenta', '…'), note: 'waits' });
    if (event.name === 'tool.ran') node.note = String(detail['tool']);
    if (event.name === 'model.failed') node.note = String(detail['message']);
    if (event.name === 'task.completed' || event.name === 'task.failed')
      return end(node, event.name === 'task.completed', detail);
    nodes.set(id, node);
  }

  function end(node: Node, ok: boolean, detail: Record<string, unknown>): void {
    const mark = ok ? terminal.colour('green', '✓') : terminal.colour('red', '✗');
    const error = (detail['error'] as { message?: string } | undefined)?.message ?? '';
    if (node.id.includes('.')) {
      Object.assign(node, { mark, note: error || `${((Date.now() - node.since) / 1000).toFixed(1)} s` });
      nodes.set(node.id, node);
      return;
    }
    for (const id of nodes.keys()) if (id === node.id || id.startsWith(`${node.id}.`)) nodes.delete(id);
    clear();
    terminal.say(
      `${mark} ${terminal.bold(node.agent)} ${node.id} ${ok ? terminal.dim(`results/${node.id}.md`) : oneLine(error, terminal.width - 30)}`,
    );
  }

  function soon(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      draw();
    }, FRAME_MS);
  }

  function draw(): void {
    clear();
    const rows = [...nodes.values()].sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, 20);
    for (const node of rows) {
      const depth = node.id.split('.').length - 1;
      const name = depth === 0 ? node.id : node.id.slice(node.id.lastIndexOf('.') + 1);
      const head = `${'  '.repeat(depth)}${node.mark} ${terminal.bold(node.agent)} ${name} `;
      const room = terminal.width - depth * 2 - node.agent.length - name.length - 6;
      const note = node.note.startsWith('“') ? node.note.slice(-Math.max(10, room)) : node.note;
      process.stderr.write(`${head}${terminal.dim(oneLine(note, Math.max(10, room)))}\n`);
    }
    drawn = rows.length;
  }

  function clear(): void {
    if (drawn > 0) process.stderr.write(`\u001b[${drawn}A\u001b[0J`);
    drawn = 0;
  }
}
