/**
 * LangGraph with its SQLite checkpoints: every workload is one graph and every run a thread of its
 * own, so that each step is kept.
 */
import * as path from 'node:path';
import { HumanMessage, SystemMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { Annotation, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import { ADVISOR, ADVISORS, BOSS, READER, STAGE, STAGES, TOOL, reader } from './workloads.mjs';

export function open({ url, folder }) {
  const checkpointer = SqliteSaver.fromConnString(path.join(folder, 'checkpoints.db'));
  const llm = new ChatOpenAI({ model: 'bench', apiKey: 'none', configuration: { baseURL: url } });
  const ask = async (system, request) =>
    (await llm.invoke([new SystemMessage(system), new HumanMessage(request)])).content;
  const graphs = {
    w1: [reading(llm, folder).compile({ checkpointer }), { messages: [new HumanMessage(READER.request)] }],
    w2: [advised(ask).compile({ checkpointer }), { request: ADVISOR.request }],
    w3: [chained(ask).compile({ checkpointer }), { request: ADVISOR.request }],
  };
  let thread = 0;
  return {
    run(workload) {
      const [graph, input] = graphs[workload];
      return graph.invoke(input, { configurable: { thread_id: `t-${++thread}` } });
    },
    async close() {
      checkpointer.db.close();
    },
  };
}

function reading(llm, folder) {
  const read = tool(reader(folder), { ...TOOL, schema: z.object({ path: z.string() }) });
  const bound = llm.bindTools([read]);
  const model = async ({ messages }) => ({
    messages: [await bound.invoke([new SystemMessage(READER.system), ...messages])],
  });
  return new StateGraph(MessagesAnnotation)
    .addNode('model', model)
    .addNode('tools', new ToolNode([read]))
    .addEdge(START, 'model')
    .addConditionalEdges('model', ({ messages }) => (messages.at(-1).tool_calls?.length ? 'tools' : END))
    .addEdge('tools', 'model');
}

const State = Annotation.Root({
  request: Annotation(),
  advice: Annotation({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  answer: Annotation(),
});

function advised(ask) {
  const names = Array.from({ length: ADVISORS }, (_, n) => `advisor-${n + 1}`);
  const graph = new StateGraph(State).addNode('boss', async ({ advice, request }) => ({
    answer: await ask(BOSS.system, [...advice, request].join('\n\n')),
  }));
  for (const name of names)
    graph.addNode(name, async ({ request }) => ({ advice: [await ask(ADVISOR.system, request)] })).addEdge(START, name);
  return graph.addEdge(names, 'boss').addEdge('boss', END);
}

function chained(ask) {
  const graph = new StateGraph(State);
  const names = Array.from({ length: STAGES }, (_, n) => `stage-${n + 1}`);
  for (const [at, name] of names.entries()) {
    graph.addNode(name, async ({ request, answer }) => ({
      answer: await ask(STAGE.system, [answer, request].filter(Boolean).join('\n\n')),
    }));
    graph.addEdge(names[at - 1] ?? START, name);
  }
  return graph.addEdge(names.at(-1), END);
}
