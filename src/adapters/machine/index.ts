/** The checks of `guild doctor` on this machine: Node, git, the disk and quarantined files. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import { asProblem } from '../../domain/problem.js';

export interface Finding {
  name: string;
  verdict: 'good' | 'odd' | 'bad';
  text: string;
}

/** The programs that Guildhall runs on and with. */
export function programFindings(): Finding[] {
  return [node(), git()];
}

/**
 * The folder of a workspace: its file system, the calls that claims need, and quarantined files.
 */
export function folderFindings(root: string): Finding[] {
  return [fileSystem(root), ...probes(root)];
}

function node(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const text = `Node ${process.versions.node} on ${os.platform()} ${os.release()}`;
  if (major < 20 || (major === 20 && minor < 19))
    return { name: 'node', verdict: 'bad', text: `${text}; Node 20.19 or newer is required` };
  return { name: 'node', verdict: 'good', text };
}

function git(): Finding {
  return attempt(
    () => ({ name: 'git', verdict: 'good', text: execFileSync('git', ['--version'], { encoding: 'utf8' }).trim() }),
    { name: 'git', verdict: 'odd', text: 'not found; the workspace has no history without it' },
  );
}

/** File systems whose renames are not reliable enough for claims. */
const NETWORK = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x65735546, 'FUSE'],
]);

function fileSystem(root: string): Finding {
  const { type, bavail, bsize } = fs.statfsSync(root);
  const network = NETWORK.get(type);
  const free = (bavail * bsize) / 1e9;
  if (network !== undefined)
    return { name: 'disk', verdict: 'bad', text: `${root} is on ${network}; a workspace needs a local disk` };
  return { name: 'disk', verdict: free < 0.2 ? 'odd' : 'good', text: `local, ${free.toFixed(1)} GB free` };
}

function probes(root: string): Finding[] {
  try {
    const folder = fs.mkdtempSync(path.join(root, '.doctor-'));
    try {
      fs.writeFileSync(path.join(folder, 'room'), 'x'.repeat(64 * 1024));
      return probesIn(folder);
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  } catch (error) {
    return [{ name: 'write', verdict: 'bad', text: `nothing can be written here: ${asProblem(error).message}` }];
  }
}

function probesIn(folder: string): Finding[] {
  const at = (name: string): string => path.join(folder, name);
  const probe = (name: string, good: string, bad: string, body: () => boolean): Finding => {
    try {
      if (body()) return { name, verdict: 'good', text: good };
    } catch {
      // The call failed: report it as bad.
    }
    return { name, verdict: 'bad', text: bad };
  };
  return [
    probe('rename', 'renames are atomic, so a claim has one winner', 'renames do not work reliably here', () => {
      fs.writeFileSync(at('a'), 'x');
      fs.renameSync(at('a'), at('b'));
      return !fs.existsSync(at('a')) && fs.existsSync(at('b'));
    }),
    probe('link', 'hard links work', 'hard links do not work here', () => {
      fs.linkSync(at('b'), at('c'));
      try {
        fs.linkSync(at('b'), at('c'));
        return false;
      } catch (error) {
        return (error as NodeJS.ErrnoException).code === 'EEXIST';
      }
    }),
    syncSpeed(at('s')),
  ];
}

function syncSpeed(file: string): Finding {
  const times: number[] = [];
  for (let i = 0; i < 9; i++) {
    const from = performance.now();
    const fd = fs.openSync(file, 'a');
    fs.writeSync(fd, 'x'.repeat(500));
    fs.fsyncSync(fd);
    fs.closeSync(fd);
    times.push(performance.now() - from);
  }
  const median = times.sort((a, b) => a - b)[4]!;
  return {
    name: 'fsync',
    verdict: median > 50 ? 'odd' : 'good',
    text: `${median.toFixed(2)} ms per write${median > 50 ? '; every step takes at least that long' : ''}`,
  };
}

export function quarantineFinding(root: string): Finding {
  const count = (folder: string): number =>
    fs.existsSync(path.join(root, folder)) ? fs.readdirSync(path.join(root, folder)).length : 0;
  if (count('quarantine') > 0)
    return {
      name: 'quarantine',
      verdict: 'odd',
      text: 'quarantine/ contains files; the .why.md next to each says why',
    };
  return { name: 'quarantine', verdict: 'good', text: 'empty' };
}
