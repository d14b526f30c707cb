/**
 * `guild doctor --adopt`: a person decides about journals that no process may decide about. One
 * that cannot be replayed goes to evidence, and its tasks continue from their files. One whose
 * process cannot be judged is handed to the next process, which replays it.
 */
import path from 'node:path';
import { whereabouts, type Peer } from '../../../domain/peer.js';
import type { Disk } from '../../../ports/disk.js';
import type { Processes } from '../../../ports/processes.js';
import { readJson } from '../base/read-json.js';
import { layout as layoutOf } from '../base/layout.js';
import { headerOf, HELD, HELD_NAME } from './dead-journals.js';
import { adoptedName, parseJournalName } from './names.js';

export interface HeldJournal {
  peer: string;
  /** Relative to the workspace; none if the process has no journal. */
  files: string[];
  /** `unjudged`: its process has another pid namespace, so it may still be running. */
  why: 'unreadable' | 'unjudged';
  host?: string;
  pid?: number;
}

interface JournalAdoption {
  /** The journals whose tasks are held, and processes without a journal that hold tasks. */
  held(): HeldJournal[];
  /** Durable when resolved, and harmless if repeated. */
  adopt(journal: HeldJournal): Promise<void>;
}

/** No process has this id, so the next process replays the journal. */
const NOBODY = 'doctor';

export function journalAdoption(root: string, disk: Disk, processes: Processes): JournalAdoption {
  const layout = layoutOf(root);
  const shown = (file: string): string => path.relative(root, file);
  return {
    held: () => [...unreadable(), ...unjudged()],
    async adopt({ peer, files, why }) {
      if (why === 'unreadable') await keepAsEvidence(peer, files);
      else await handOver(peer, files);
    },
  };

  function unreadable(): HeldJournal[] {
    const names = disk.list(layout.journal).filter((name) => HELD_NAME.test(name));
    return [...byPeer(names)].map(([peer, files]) => ({ peer, files, why: 'unreadable' }));
  }

  function unjudged(): HeldJournal[] {
    const names = disk.list(layout.journal).filter((name) => {
      const file = parseJournalName(layout.journal, name);
      return file !== undefined && !file.isClosed && !file.isOld && file.adopter === undefined;
    });
    const journals = byPeer(names);
    const live = disk.list(layout.live).flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -5)] : []));
    return [...new Set([...journals.keys(), ...live])].flatMap((peer): HeldJournal[] => {
      const files = journals.get(peer) ?? [];
      const owner = ownerOf(files) ?? readJson<Peer>(disk, path.join(layout.live, `${peer}.json`));
      if (owner === undefined || whereabouts(owner, processes.me()) !== 'elsewhere') return [];
      return [{ peer, files, why: 'unjudged', host: owner.host, pid: owner.pid }];
    });
  }

  function byPeer(names: readonly string[]): Map<string, string[]> {
    const found = new Map<string, string[]>();
    for (const name of [...names].sort()) {
      const peer = name.slice(0, name.indexOf('.'));
      found.set(peer, [...(found.get(peer) ?? []), shown(path.join(layout.journal, name))]);
    }
    return found;
  }

  function ownerOf(files: readonly string[]): Pick<Peer, 'host' | 'bootId' | 'pid'> | undefined {
    for (const name of files) {
      const file = parseJournalName(layout.journal, path.basename(name));
      const header = file === undefined ? undefined : headerOf(disk, file);
      if (header !== undefined) return header.owner;
    }
    return undefined;
  }

  /** The note comes first: a file without one would explain nothing. */
  async function keepAsEvidence(peer: string, files: readonly string[]): Promise<void> {
    const note = path.join(layout.evidence, `${peer}.journal.why.md`);
    const list = files.map((file) => `- ${path.basename(file).slice(0, -HELD.length)}\n`).join('');
    disk.remove(note);
    disk.create(note, `The journal of process ${peer} could not be replayed:\n\n${list}\n${ADVICE}`);
    await disk.sync(note);
    for (const file of files)
      disk.rename(path.join(root, file), path.join(layout.evidence, path.basename(file).slice(0, -HELD.length)));
    await disk.syncFolder(layout.evidence);
    await disk.syncFolder(layout.journal);
  }

  /** Renames the journal first: after that its process, if still alive, acknowledges nothing. */
  async function handOver(peer: string, files: readonly string[]): Promise<void> {
    const last = files
      .flatMap((name) => parseJournalName(layout.journal, path.basename(name)) ?? [])
      .sort((a, b) => a.segment - b.segment)
      .at(-1);
    if (last !== undefined) disk.rename(last.file, adoptedName(last, NOBODY));
    await disk.syncFolder(layout.journal);
    disk.remove(path.join(layout.live, `${peer}.json`));
    await disk.syncFolder(layout.live);
  }
}

const ADVICE = `Its tasks continue from their files. They lack everything that only this journal had: the last messages, results and
events of that process. Each line of a journal is JSON after three fields and can be read with any editor.
`;
