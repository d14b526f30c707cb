/** `guild agent`: list, start, pause, resume, move, new, rollback. */
import fs from 'node:fs';
import path from 'node:path';
import { openReader } from '../../../app/readers/open-reader.js';
import { openRoster } from '../../../app/readers/open-roster.js';
import { knownAgent } from '../../args/known-agent.js';
import { isTerminal } from '../../../domain/agent/agent.js';
import { agentNameProblem } from '../../../domain/agent/name.js';
import { compareText } from '../../../domain/order.js';
import { ProblemError, problemError } from '../../../domain/problem.js';
import { agentGraph, drawGraph, GRAPH_FORMATS } from '../../../views/agent-graph.js';
import { EXIT, text, unknownWord, type Call, type Command } from '../../args/command.js';
import { graphFormat } from '../../args/graph-format.js';
import { tableRows } from '../../render/layout.js';

export const command: Command = {
  usage: [
    ['agent list', 'list the agents with their models, files and descriptions'],
    ['agent start <name>…', 'work for these agents only, in this terminal; several terminals can do so'],
    ['agent pause <name> [reason]', 'let an agent finish its current turn, then give it no work'],
    ['agent resume <name>', 'let a paused agent work again'],
    ['agent move <name> <machine>', 'move an agent that has runs_on to <machine>'],
    ['agent new <name>', 'create agents/<name>.md from a template'],
    ['agent rollback <name> <commit>', 'restore its folder workspaces/<name>/ from one of its commits'],
  ],
  about: `
Creating the file storage/paused/<name> also pauses an agent. git -C workspaces/<name> log lists the commits for a rollback.`,
  options: {
    description: { type: 'string', value: 'TEXT', about: 'new: what the agent is good at; others choose agents by it' },
    metrics: { type: 'string', value: 'PORT', about: 'start: serve /metrics on this port, or on HOST:PORT' },
    graph: { type: 'boolean', about: 'list: draw the agents and the steps between them' },
    format: { type: 'string', value: 'FORMAT', about: 'list --graph: text (default), mermaid, dot or json' },
  },
  async run(call) {
    const [word = 'list', ...words] = call.words;
    if (text(call.values, 'format') !== undefined && call.values['graph'] !== true)
      throw problemError('bad_usage', '--format needs --graph', { hint: 'for programs, use --json' });
    if (word === 'list') return call.values['graph'] === true ? graph(call) : list(call);
    if (word === 'new') return write({ ...call, words });
    if (word === 'start') return start({ ...call, words });
    if (word === 'rollback') return rollback({ ...call, words });
    if (word === 'pause') return (await import('./pause.js')).pause({ ...call, words });
    if (word === 'move') return (await import('./move.js')).move({ ...call, words });
    if (word === 'resume') return (await import('./pause.js')).resume({ ...call, words });
    throw unknownWord('agent', word, 'list start pause resume move new rollback'.split(' '));
  },
};

async function list({ root, terminal, json, io }: Call): Promise<number> {
  const { agents, problems } = openRoster(root, io.env);
  const all = [...agents.values()].sort((a, b) => compareText(a.name, b.name));
  if (json) terminal.json(all.map((agent) => ({ ...agent, terminal: isTerminal(agent) })));
  else {
    const rows = all.map((agent) => [
      terminal.bold(agent.name),
      agent.models[0] ?? terminal.dim('default'),
      terminal.dim(agent.file),
      agent.description,
    ]);
    for (const line of tableRows(rows, terminal.width, [0, 1, 2]).flat()) terminal.out(line);
    if (all.length === 0) terminal.say('no agents; guild init creates some');
  }
  if (problems.length > 0)
    terminal.say(terminal.colour('yellow', `${problems.length} problems; guild check shows them`));
  return EXIT.done;
}

async function graph({ root, terminal, values }: Call): Promise<number> {
  const format = graphFormat(values, GRAPH_FORMATS);
  const drawn = agentGraph(openRoster(root).agents.values());
  if (format === 'json') terminal.json(drawn);
  else for (const line of drawGraph(drawn, format)) terminal.out(line);
  return EXIT.done;
}

async function rollback({ root, words, terminal, json, io }: Call): Promise<number> {
  const [name, commit] = words;
  if (name === undefined || commit === undefined)
    throw problemError('bad_usage', 'guild agent rollback needs an agent and a commit of its folder');
  openReader(root);
  const { rollbackAgent } = await import('../../../app/rollback-agent.js');
  const done = await rollbackAgent(root, name, commit, io.env);
  if (!done.ok) throw problemError('bad_usage', done.reason);
  if (json) terminal.json(done);
  else terminal.out(done.commit);
  for (const file of done.files) terminal.say(`  ${file}`);
  return EXIT.done;
}

async function start(call: Call): Promise<number> {
  if (call.words.length === 0) throw problemError('bad_usage', 'guild agent start needs one or more names');
  for (const name of call.words) knownAgent(call.root, name);
  const { host } = await import('../watch.js');
  return host(call, call.words);
}

async function write({ root, words, values, terminal, json }: Call): Promise<number> {
  const name = words[0];
  if (name === undefined) throw problemError('bad_usage', 'guild agent new needs a name');
  const fault = agentNameProblem(name);
  if (fault !== undefined) throw new ProblemError(fault);
  openReader(root);
  const file = path.join('agents', `${name}.md`);
  const full = path.join(root, file);
  fs.mkdirSync(path.dirname(full), { recursive: true });
  try {
    fs.writeFileSync(full, template(name, text(values, 'description')), { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw problemError('duplicate', `${file} already exists`, { hint: 'choose another name, or edit that file' });
  }
  if (json) terminal.json({ file });
  else terminal.out(file);
  terminal.say(terminal.dim('edit it, then run guild check'));
  return EXIT.done;
}

function template(name: string, description = `Describe what ${name} is good at; others choose agents by it`): string {
  return `---
description: ${JSON.stringify(description)}
tools: [read_file, list_directory, search_files]
# model: fast                # an alias from guild.yaml, or provider/model
# agents: [retriever]        # agents that it may delegate to, with the tool delegate_to_agent
# capabilities: []           # matched against the requirements of tasks
# budget: {turns: 20, usd: 0.50}
---
You are ${name}. ${description}.

{{tool_descriptions}}

Work in small steps. Say what you found and where. If you cannot do what was asked, say so and why.
`;
}
