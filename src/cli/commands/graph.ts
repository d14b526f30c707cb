/** `guild graph`: a task and all under it, with who waits for whom. */
import { openReader } from '../../app/readers/open-reader.js';
import { taskTree } from '../../app/readers/task-tree.js';
import { waitsView } from '../../app/readers/waits-view.js';
import { ProblemError } from '../../domain/problem.js';
import { drawTaskGraph, TASK_GRAPH_FORMATS, taskGraph } from '../../views/task-graph.js';
import { EXIT, type Command } from '../args/command.js';
import { graphFormat } from '../args/graph-format.js';
import { idOf, unknownTask } from './task/id.js';
import { fitted } from '../render/terminal.js';

export const command: Command = {
  help: `guild graph <task> [--mermaid | --dot | --json | --format text|mermaid|dot|json]

The task and everything under it, with who waits for whom and what depends on what. What is waited for may also be
a turn in a conversation, a resource, room at an agent, a budget, or you; who holds it is named.
  ○ pending  ● active  … waiting  ✓ completed  ✗ failed

--json: {tasks, nodes, edges}. Nodes are what is no task: {id, kind, label}, with kind conversation, resource, agent,
human or budget. An edge is {from, to, step}, with step asked, waits, depends or held; held has the share of a budget.

Mermaid is what Markdown pages draw; DOT is what Graphviz draws: guild graph t1 --dot | dot -Tsvg > t1.svg`,
  options: { format: { type: 'string' }, mermaid: { type: 'boolean' }, dot: { type: 'boolean' } },
  most: 1,
  async run(call) {
    const { values, terminal } = call;
    const id = idOf(call, 'graph');
    const format = graphFormat(values, TASK_GRAPH_FORMATS);
    const store = openReader(call.root);
    const tree = await taskTree(store, id);
    if (tree.length === 0) throw new ProblemError(unknownTask(id, call.root));
    const { waitsOf } = await waitsView(call.root, store);
    const graph = taskGraph(tree, waitsOf);
    if (format === 'json') terminal.json(graph);
    else
      for (const line of drawTaskGraph(graph, format))
        terminal.out(format === 'text' ? fitted(line, terminal.width) : line);
    return EXIT.done;
  },
};
