/** `guild graph`: a task and all under it, with who waits for whom. */
import { openReader } from '../app/open-reader.js';
import { taskTree } from '../app/task-tree.js';
import { problem, ProblemError } from '../domain/problem.js';
import { drawTaskGraph, TASK_GRAPH_FORMATS, taskGraph } from '../rules/task-graph.js';
import { EXIT, text, type Command } from './command.js';
import { idOf, unknownTask } from './task-id.js';
import { fitted } from './terminal.js';

export const command: Command = {
  help: `guild graph <task> [--mermaid | --dot | --format text|mermaid|dot]

The task and everything under it, with who waits for whom and what depends on what.
  ○ pending  ● active  … waiting  ✓ completed  ✗ failed

Mermaid is what Markdown pages draw; DOT is what Graphviz draws: guild graph t1 --dot | dot -Tsvg > t1.svg`,
  options: { format: { type: 'string' }, mermaid: { type: 'boolean' }, dot: { type: 'boolean' } },
  most: 1,
  async run(call) {
    const { values, terminal, json } = call;
    const id = idOf(call, 'graph');
    const named = values['mermaid'] ? 'mermaid' : values['dot'] ? 'dot' : (text(values, 'format') ?? 'text');
    const format = TASK_GRAPH_FORMATS.find((one) => one === named);
    if (format === undefined)
      throw new ProblemError(problem('bad_usage', `a graph is drawn as ${TASK_GRAPH_FORMATS.join(', ')}`));
    const tree = await taskTree(openReader(call.root), id);
    if (tree.length === 0) throw new ProblemError(unknownTask(id));
    const graph = taskGraph(tree);
    if (json) terminal.json(graph);
    else
      for (const line of drawTaskGraph(graph, format))
        terminal.out(format === 'text' ? fitted(line, terminal.width) : line);
    return EXIT.done;
  },
};
