/**
 * Plays stories in front of a real terminal and returns what a person saw: the demo, a swarm that
 * makes a new agent, the first ten minutes by docs/getting-started.md, and a day with three
 * questions and five approvals.
 */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { acceptTrust } from '../dist/src/app/trust/trust.js';
import { terminalScreen } from './terminal-screen.mjs';

const LIMIT_MS = 60_000;
const SETTLE_MS = 700;
const PROMPT = '\u001b[32m$\u001b[39m';
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const CUT = '\u001b[2m⋮\u001b[22m';

/** The start and the end of the demo. */
export async function demo({ folder, guild, columns }) {
  const shell = recorder(folder, guild, columns);
  await shell.run('guild demo --yes', [], {
    hidden: `--dir ${folder}/office`,
    shown(lines) {
      const at = (start, nth = 0) => lines.flatMap((line, i) => (bare(line).startsWith(start) ? [i] : []))[nth];
      return [...lines.slice(0, at('Pass', 5)), CUT, '', ...lines.slice(at('The reply'), at('To look around'))];
    },
  });
  return shell.lines();
}

/** A task needs a capability that no agent has: the approval of a new agent, and its answer. */
export async function swarm({ folder, guild, root, columns }) {
  fs.cpSync(path.join(root, 'examples', 'swarm'), folder, { recursive: true });
  fs.appendFileSync(path.join(folder, 'guild.yaml'), '\nlimits: { parallel: 1 }\n'); // a fixed order of lines
  acceptTrust(folder, { ...process.env, GUILD_STATE: stateOf(folder) });
  await recorder(folder, guild, columns).run('guild pump --all --quiet');
  const task = `{"description": "Draw the data model of the API", "requirements": ["diagram_drawing"]}\n`;
  fs.writeFileSync(path.join(folder, 'tasks', 'pending', 'diagram.json'), task);
  const shell = recorder(folder, guild, columns);
  await shell.run('cat tasks/pending/diagram.json');
  await shell.run('guild pump --all', [], { shown: (lines) => lines.filter(isMain) });
  const keys = [
    [/\? details/, 'y'],
    [/press Enter/, '\r'],
  ];
  await shell.run('guild inbox', keys, {
    shown(lines) {
      const after = lines.findIndex((line) => bare(line).startsWith('carrying on')) + 1;
      return [...lines.slice(0, after), ...lines.slice(after).filter(isMain)];
    },
  });
  return shell.lines();
}

/** Neither a wait nor a stage of an agent's work. */
function isMain(line) {
  return !/^ *…|^ {4}[+✓·]|^ *[+✓·].* (?:work|check-\d)$|give_verdict/.test(bare(line));
}

function bare(line) {
  return line.replaceAll(/\u001b\[\d+m/g, '');
}

/** A long list of created files, with its start and its end. */
function shortened(lines) {
  const isFile = (line) => /^ *\+ /.test(bare(line));
  const from = lines.findIndex(isFile);
  const to = lines.findLastIndex(isFile);
  return to - from < 6 ? lines : [...lines.slice(0, from + 4), CUT, ...lines.slice(to)];
}

/** The commands of the page, with its own offline script and agent. */
export async function firstTenMinutes({ folder, guild, root, columns }) {
  const page = fs.readFileSync(path.join(root, 'docs', 'getting-started.md'), 'utf8');
  const block = (kind, about) =>
    [...page.matchAll(new RegExp(`\`\`\`${kind}\\n([^]*?)\`\`\``, 'g'))]
      .map(([, text]) => text)
      .find((text) => text.includes(about));
  const shell = recorder(folder, guild, columns);
  await shell.run('guild init team', [], { shown: shortened });
  const team = path.join(folder, 'team');
  fs.appendFileSync(path.join(team, 'guild.yaml'), '\nmodel: scripted/practice\n');
  fs.writeFileSync(path.join(team, 'script.yaml'), block('yaml', 'agent: reporter'));
  fs.writeFileSync(path.join(team, 'agents', 'reporter.md'), block('markdown', 'You are the reporter'));
  shell.cd(team);
  await shell.run('guild check');
  await shell.run('guild run reporter "Which agents work here?"');
  await shell.run('guild run reporter "Write that down: who works here?"', [[/\? details/, 'y']]);
  await shell.run('cat NOTES.md');
  await shell.run('guild chat reporter', [
    [/reporter> /, 'What is this folder, in one line?\r'],
    [/small team of agents[^]*reporter> /, '\u0004'],
  ]);
  return shell.lines();
}

const DAY = `- {agent: ana, turn: 1, call: [{ask_human: {question: "Which version is it?", choices: ["1.0", "1.1"]}}]}
- {agent: ana, turn: 2, call: [{write_file: {path: CHANGES.md, content: "# 1.1\\n\\nFaster start.\\n"}}]}
- {agent: ana, turn: 3, call: [{execute_command: {command: "touch RELEASED"}}]}
- {agent: ana, say: "Version 1.1 is written down."}
- {agent: ben, turn: 1, call: [{ask_human: {question: "Who is it for?"}}]}
- {agent: ben, turn: 2, call: [{write_file: {path: letter.md, content: "Dear Sarah,\\n\\nthe release is out.\\n"}}]}
- {agent: ben, say: "The letter to Sarah is in letter.md."}
- {agent: eva, turn: 1, call: [{execute_command: {command: "rm -r old-builds"}}]}
- {agent: eva, turn: 2, call: [{ask_human: {question: "Keep last week's builds?", choices: ["yes", "no"], default: "yes"}}]}
- {agent: eva, turn: 3, call: [{write_file: {path: memory/builds.md, content: "Builds of the last week stay.\\n"}}]}
- {agent: eva, say: "I wrote down that builds of the last week stay."}
`;

/** Three questions and five approvals, answered in the inbox. */
export async function aDay({ folder, guild, columns }) {
  const put = (file, text) => {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    fs.writeFileSync(path.join(folder, file), text);
  };
  put('guild.yaml', 'model: demo/x\nproviders: {demo: {kind: scripted}}\nlimits: {parallel: 1}\n');
  put('script.yaml', DAY);
  for (const [name, what] of Object.entries({ ana: 'Makes releases', ben: 'Writes letters', eva: 'Keeps things tidy' }))
    put(
      `agents/${name}.md`,
      `---\ndescription: ${what}\ntools: [ask_human, write_file, execute_command]\n---\nWork.\n`,
    );
  const shell = recorder(folder, guild, columns);
  await shell.run('guild task add "Prepare the release" --to ana');
  await shell.run('guild task add "Write a letter about it" --to ben');
  await shell.run('guild task add "Tidy up" --to eva');
  await shell.run('guild pump --all');
  const approve = [/\? details/, 'y'];
  await shell.run(
    'guild inbox',
    [
      [/Escape[^]*1\.1/, '\u001b[B\r'],
      [/Your answer: /, 'Sarah\r'],
      [/rm -r old-builds[^]*\? details/, 'n'],
      [/Why not\?/, 'they are still needed\r'],
      approve,
      approve,
      approve,
      [/last week[^]*Escape/, '\r'],
      approve,
    ],
    { isLoose: true },
  );
  await shell.run('cat letter.md');
  return shell.lines();
}

function stateOf(folder) {
  return `${folder}-state`;
}

/** A shell that types commands and keys as a person does. */
function recorder(start, guild, columns) {
  const all = [];
  let folder = start;
  return {
    cd(to) {
      folder = to;
      all.push(`${PROMPT} cd ${path.basename(to)}`);
    },
    lines: () => all,
    /**
     * `hidden`: arguments that the picture does not show. `shown`: which lines of the output it
     * shows. `isLoose`: each key is pressed when its text appears, in any order.
     */
    async run(command, keys = [], { hidden = '', shown = (lines) => lines, isLoose = false } = {}) {
      const screen = terminalScreen(columns);
      const line = `${command.replace(/^guild\b/, guild)} ${hidden}`;
      const env = {
        ...process.env,
        TERM: 'xterm-256color',
        NO_COLOR: '',
        CI: '',
        PAGER: 'cat',
        GUILD_STATE: stateOf(start),
      };
      const child = spawn('script', ['-qefc', `stty cols ${columns} rows 40; ${line}`, '/dev/null'], {
        cwd: folder,
        env,
      });
      let text = '';
      const state = { isOver: false };
      child.stdout.on('data', (chunk) => {
        screen.write(chunk.toString('utf8'));
        // eslint-disable-next-line no-control-regex
        text += chunk.toString('utf8').replaceAll(/\u001b\[[?>=]?[\d;]*[A-Za-z]/g, '');
      });
      const ended = new Promise((resolve) => child.once('close', () => resolve((state.isOver = true))));
      const open = [...keys];
      for (let from = Date.now(); open.length > 0 && !state.isOver && Date.now() - from < LIMIT_MS; await pause(50)) {
        const at = isLoose ? open.findIndex(([what]) => what.test(text)) : open[0][0].test(text) ? 0 : -1;
        if (at < 0) continue;
        const [[, typed]] = open.splice(at, 1);
        await pause(SETTLE_MS);
        text = '';
        child.stdin.write(typed);
        from = Date.now();
      }
      const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
      await ended;
      clearTimeout(limit);
      all.push(`${PROMPT} ${command}`, ...shown(screen.lines()), '');
    },
  };
}
