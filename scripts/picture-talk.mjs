/**
 * Plays two days in front of a real terminal and returns what a person saw: the first ten minutes
 * by docs/getting-started.md, and a day with three questions and five approvals.
 */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { terminalScreen } from './terminal-screen.mjs';

const LIMIT_MS = 60_000;
const SETTLE_MS = 700;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The commands of the page, with its own offline script and agent. */
export async function firstTenMinutes(folder, guild, root, columns) {
  const page = fs.readFileSync(path.join(root, 'docs', 'getting-started.md'), 'utf8');
  const block = (kind, about) =>
    [...page.matchAll(new RegExp(`\`\`\`${kind}\\n([^]*?)\`\`\``, 'g'))]
      .map(([, text]) => text)
      .find((text) => text.includes(about));
  const shell = recorder(folder, guild, columns);
  await shell.run('guild init team');
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
export async function aDay(folder, guild, columns) {
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
      [/1\.1[^]*Escape/, '\u001b[B\r'],
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

/** A shell that types commands and keys as a person does. */
function recorder(start, guild, columns) {
  const screen = terminalScreen(columns);
  let folder = start;
  return {
    cd(to) {
      folder = to;
      screen.write(`\u001b[32m$\u001b[39m cd ${path.basename(to)}\r\n`);
    },
    lines: () => screen.lines(),
    /** `isLoose`: each key is pressed when its text appears, in any order. */
    async run(command, keys = [], { isLoose = false } = {}) {
      screen.write(`\u001b[32m$\u001b[39m ${command}\r\n`);
      const line = command.replace(/^guild\b/, guild);
      const env = {
        ...process.env,
        TERM: 'xterm-256color',
        NO_COLOR: '',
        CI: '',
        PAGER: 'cat',
        GUILD_STATE: `${start}-state`,
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
      screen.write('\r\n');
    },
  };
}
