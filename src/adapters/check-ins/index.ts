/**
 * Check-ins as files: `storage/planner-checkin.yaml` is for people to read and edit,
 * `.guild/checkin.json` is the program's own memory.
 */
import { parseMapping } from '../../domain/mapping.js';
import path from 'node:path';
import type { CheckInMemory } from '../../domain/coordination/check-in.js';
import { fenced, isUnreadable } from '../../domain/fence.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { CheckInRead, CheckIns } from '../../ports/check-ins.js';
import type { Disk } from '../../ports/disk.js';
import { editCheckIn, parseCheckIn } from '../../text/config/check-in.js';

const FILE = 'storage/planner-checkin.yaml';
const MAX_BYTES = 1024 * 1024;

export function checkIns({ root, disk, peer }: { root: string; disk: Disk; peer: string }): CheckIns {
  const file = path.join(root, FILE);
  const memoryFile = path.join(root, '.guild', 'checkin.json');
  let seen: string | undefined;
  let text = '';
  let last: CheckInRead = { kind: 'missing' };
  let tmps = 0;

  return {
    read() {
      const looked = fenced(FILE, () => disk.stamp(file));
      const stamp = isUnreadable(looked) ? 'unknown' : looked;
      if (stamp === seen) return last.kind === 'held' ? { kind: 'held' } : last;
      seen = stamp;
      last = stamp === undefined ? { kind: 'missing' } : load();
      return last;
    },
    async write(note) {
      const edited = editCheckIn(last.kind === 'missing' ? '' : text, note);
      if (edited === undefined) {
        last = held(
          problem('bad_file', `${FILE} cannot be updated without breaking it`, {
            where: { file: FILE },
            hint: 'put each key on its own line',
          }),
        );
        return;
      }
      disk.makeFolder(path.dirname(file));
      if (!(await replace(file, edited, () => disk.stamp(file) === seen))) return;
      seen = disk.stamp(file);
      text = edited;
      last = { kind: 'note', note };
    },
    memory() {
      const read = fenced(memoryFile, () => disk.read(memoryFile, MAX_BYTES));
      if (read.kind !== 'file') return undefined;
      const memory = parseMapping(read.bytes.toString('utf8')) as Partial<CheckInMemory> | undefined;
      return typeof memory?.work === 'string' ? (memory as CheckInMemory) : undefined;
    },
    async remember(memory) {
      await replace(memoryFile, JSON.stringify(memory), () => true);
    },
  };

  function load(): CheckInRead {
    const read = fenced(FILE, () => disk.read(file, MAX_BYTES));
    if (read.kind === 'unreadable') return held(read.problem);
    if (read.kind !== 'file') return held(problem('bad_file', `${FILE} cannot be read`, { where: { file: FILE } }));
    text = read.bytes.toString('utf8');
    const parsed = fenced(FILE, () => parseCheckIn(text, FILE));
    return 'problem' in parsed ? held(parsed.problem) : { kind: 'note', note: parsed.note };
  }

  function held(reason: Problem): CheckInRead {
    return { kind: 'held', problem: reason };
  }

  async function replace(target: string, bytes: string, isUnchanged: () => boolean): Promise<boolean> {
    const tmp = path.join(root, '.guild', 'tmp', `${peer}-checkin${++tmps}`);
    disk.create(tmp, bytes);
    try {
      await disk.sync(tmp);
      if (!isUnchanged() || !disk.rename(tmp, target)) return false;
    } catch (error) {
      // A process that does not know this peer yet swept the temporary file. The next pass writes
      // it again.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    } finally {
      disk.remove(tmp);
    }
    await disk.syncFolder(path.dirname(target));
    return true;
  }
}
