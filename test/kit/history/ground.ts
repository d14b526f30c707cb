/** A folder with a history on real Git, and its two authors: the program and a person. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { removeFolder, tempFolder } from '../temp/folder.js';
import { clock as realClock } from '../../../src/adapters/clock/index.js';
import { git } from '../../../src/adapters/git/index.js';
import { processes } from '../../../src/adapters/processes/index.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { History } from '../../../src/ports/history.js';

export interface Ground {
  root: string;
  history: History;
  /** Writes a file as the program does: history gets a report. */
  write(file: string, text: string): void;
  /** A file as a person writes it. */
  edit(file: string, text: string): void;
  remove(file: string): void;
  read(file: string): string | undefined;
  /** Runs git as a person, with a person's configuration. */
  git(...args: string[]): string;
  /** Runs git on the program's own repository. */
  own(...args: string[]): string;
  /** Another history of the same folder; `PATH` and similar variables may differ. */
  again(more?: { env?: Record<string, string>; clock?: Clock }): History;
}

interface GroundOptions {
  /** The workspace is this folder below the temporary one. */
  inside?: string;
  branch?: boolean;
}

export function ground(t: TestContext, { inside = '', branch = false }: GroundOptions = {}): Ground {
  const top = tempFolder('history');
  const histories: History[] = [];
  t.after(async () => {
    await Promise.allSettled(histories.map((history) => history.close()));
    await removeFolder(top);
  });
  const root = path.join(top, inside);
  fs.mkdirSync(path.join(root, 'memory'), { recursive: true });
  const again: Ground['again'] = ({ env = {}, clock = realClock() } = {}) => {
    const all = { ...process.env, HOME: top, GIT_CONFIG_NOSYSTEM: '1', ...env };
    const opened = git({ root, env: all, clock, processes: processes(), branch });
    histories.push(opened);
    return opened;
  };
  const at = (file: string): string => path.join(root, file);
  const history = again();
  const edit = (file: string, text: string): void => {
    fs.mkdirSync(path.dirname(at(file)), { recursive: true });
    fs.writeFileSync(at(file), text);
  };
  return {
    root,
    history,
    again,
    edit,
    write(file, text) {
      edit(file, text);
      history.changed(at(file));
    },
    remove(file) {
      fs.rmSync(at(file));
      history.changed(at(file));
    },
    read: (file) => (fs.existsSync(at(file)) ? fs.readFileSync(at(file), 'utf8') : undefined),
    git: (...args) => asPerson(root, ...args),
    own: (...args) => asPerson(root, `--git-dir=${path.join(root, '.guild', 'history.git')}`, ...args),
  };
}

export function asPerson(cwd: string, ...args: string[]): string {
  return execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
  }).trim();
}
