/** Under whose name a change is committed. */
import { execFile } from 'node:child_process';
import os from 'node:os';
import { attempt } from '../../../domain/attempt.js';
import type { Env } from '../../../domain/config/env.js';
import type { Person } from './importer.js';

export const PROGRAM: Person = { name: 'guild', mail: 'guild@localhost' };

/** `Name <mail>` as a person; undefined if it is something else. */
export function parsePerson(text: string | undefined): Person | undefined {
  const [, name, mail] = /^\s*([^<>\n]+?)\s*<([^<>\s]+)>\s*$/.exec(text ?? '') ?? [];
  return name === undefined || mail === undefined ? undefined : { name, mail };
}

/** The person as their own git knows them, or else their login name. */
export async function readPerson(root: string, env: Env): Promise<Person> {
  const [name = '', mail = ''] = await Promise.all(['user.name', 'user.email'].map((key) => gitConfig(root, env, key)));
  const login = attempt(() => plain(os.userInfo().username) || 'someone', 'someone');
  return {
    name: plain(name) || login,
    mail: plain(mail).replaceAll(' ', '') || `${login.replaceAll(' ', '-')}@localhost`,
  };
}

function gitConfig(root: string, env: Env, key: string): Promise<string> {
  return new Promise((resolve) => {
    execFile('git', ['config', '--get', key], { cwd: root, env, timeout: 5000 }, (error, out) =>
      resolve(error ? '' : out),
    );
  });
}

/** Removes the characters that would end a name in a commit. */
function plain(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this removes
  return text.replaceAll(/[<>\u0000-\u001f]+/g, ' ').trim();
}
