/** `guild export`: one run as one HTML file, for people who do not have the workspace. */
import fs from 'node:fs';
import path from 'node:path';
import { problemError } from '../../../domain/problem.js';
import { exportRun } from '../../../web/export.js';
import { EXIT, text, type Command } from '../../args/command.js';
import { idOf } from '../task/id.js';

export const command: Command = {
  usage: 'export <task>',
  about: `
Writes a task and everything below it into one HTML file that needs nothing else: what happened when, why, the conversations
and the costs. Results of tools and other text from outside are left out; --all includes them. Look at the file before you
share it: it contains what your agents wrote.`,
  options: {
    out: { type: 'string', short: 'o', value: 'FILE', about: 'the file; default: <task>.html in this folder' },
    html: { type: 'boolean', about: 'as HTML, the only format and the default' },
    all: { type: 'boolean', about: 'include results of tools and other text from outside' },
    force: { type: 'boolean', about: 'replace the file if it exists' },
  },
  maxWords: 1,
  async run({ words, root, io, terminal, json, values }) {
    const task = idOf({ words, root }, 'export');
    const file = path.resolve(io.cwd, text(values, 'out') ?? `${task}.html`);
    const html = await exportRun({ root, env: io.env, task, all: values['all'] === true });
    // A link of this name is replaced, not followed.
    if (values['force'] === true) fs.rmSync(file, { force: true });
    try {
      fs.writeFileSync(file, html, { flag: 'wx', mode: 0o600 });
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
      throw problemError('duplicate', `${file} exists`, { hint: 'choose another with --out, or use --force' });
    }
    if (json) terminal.json({ task, file, bytes: Buffer.byteLength(html) });
    else terminal.say(`wrote ${file}`);
    return EXIT.done;
  },
};
