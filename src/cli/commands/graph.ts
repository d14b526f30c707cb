/** `guild graph`: a task and every task under it, with who waits for whom. */
import { openShown } from '../../app/approvals.js';
import { taskTree } from '../../app/readers/task-tree.js';
import { waitsView } from '../../app/readers/waits-view.js';
import { ProblemError } from '../../domain/problem.js';
import { drawTaskGraph, TASK_GRAPH_FORMATS, taskGraph } from '../../views/task-graph.js';
import { EXIT, type Command } from '../args/command.js';
import { graphFormat } from '../args/graph-format.js';
import { idOf, unknownTask } from './task/id.js';
import { fitted } from '../render/layout.js';

export const command: Command = {
  usage: 'graph <task>',
  about: `
Shows a task and every task under it, with who waits for whom. A task can also wait for a turn in a conversation, a resource,
the capacity of an agent, a budget, or you; the holder is named.

  ○ pending  ● active  … waiting  ✓ completed  ✗ failed

Mermaid is for Markdown pages, DOT for Graphviz:

  guild graph t1 --dot | dot -Tsvg > t1.svg

With --json it prints {tasks, nodes, edges}. A node is something other than a task: {id, kind, label}, with the kind
conversation, resource, agent, human or budget. An edge is {from, to, step}, with the step asked, waits, depends or held; an
edge of a held budget also has the share.`,
  options: {
    format: { type: 'string', value: 'FORMAT', about: 'text (default), mermaid, dot or json' },
    mermaid: { type: 'boolean', about: 'same as --format mermaid' },
    dot: { type: 'boolean', about: 'same as --format dot' },
  },
  maxWords: 1,
  async run(call) {
    const { values, terminal } = call;
    const id = idOf(call, 'graph');
    const format = graphFormat(values, TASK_GRAPH_FORMATS);
    const store = openShown(call.root, call.io.env);
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
