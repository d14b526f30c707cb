/**
 * Agents that people approved while the work was going on. The checkouts of the other machines do
 * not have them yet, so they travel through the store. A machine writes such a file only if the
 * answer that allowed exactly this text is signed by a desk. The files are not part of the
 * definitions, which must be the published ones, until a person publishes them.
 */
import { parseMapping } from '../../domain/mapping.js';
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import type { FarParts } from '../../adapters/far/index.js';
import { parseRow, TASK } from '../../adapters/far/rows.js';
import type { Shelf } from '../../adapters/far/shelf.js';
import { problem } from '../../domain/problem.js';
import type { Placed } from '../../domain/task/task.js';
import { askedAgainId, isAnswered, soundApproval } from '../../engine/approvals/request.js';
import type { Agents } from '../../ports/agents.js';
import type { Consent } from '../../ports/consent/index.js';
import type { Ledger, Put } from '../../ports/ledger.js';
import type { Tasks } from '../../ports/store/tasks.js';

const HIRED = 'hired/';

/** A name that cannot lead out of the folder. */
const NAME = /^[A-Za-z0-9_-]+$/;

interface Hired {
  /** The whole file. */
  source: string;
  /** The approval that allowed it. */
  approval: string;
}

interface HiredAgents {
  /** Wraps the agents of this folder so that other machines get the approved ones too. */
  shared(agents: Agents, given: { tasks: Pick<Tasks, 'read'>; consent: Consent }): Agents;
  /** Files here that an approval made, relative to the folder. */
  files(): ReadonlySet<string>;
}

export function hiredAgents({ shelf, onScan }: FarParts, root: string): HiredAgents {
  const hired = shelf(HIRED);
  /** Entries that a signed answer allows, by name and text. */
  const allowed = new Set<string>();
  let version = -1;
  const isHere = (name: string, source: string, folder = 'agents'): boolean =>
    textOf(path.join(root, folder, `${name}.md`)) === source;
  const files = (): ReadonlySet<string> =>
    new Set(
      entriesOf(hired).flatMap(([name, { source }]) =>
        allowed.has(`${name} ${source}`) && isHere(name, source) ? `agents/${name}.md` : [],
      ),
    );
  return {
    files,
    shared(agents, { tasks, consent }) {
      onScan(async () => {
        if (version === hired.version()) return;
        version = hired.version();
        for (const [name, { source, approval }] of entriesOf(hired)) {
          const known = `${name} ${source}`;
          if (!allowed.has(known) && (await isAllowed({ name, source, approval }, tasks, consent))) allowed.add(known);
          if (!allowed.has(known) || agents.all().has(name) || isHere(name, source, 'agents/retired')) continue;
          if ((await agents.create(name, source, approval)) === undefined) agents.refresh(true);
        }
      });
      return {
        ...agents,
        async create(name, source, approval) {
          const held = hired.get(name) ?? (await hired.read(name));
          const isNew = held === undefined || held.value === '';
          if (isNew) await hired.replace(name, held, JSON.stringify({ source, approval } satisfies Hired));
          if (entryOf(hired, name)?.source !== source)
            return problem('duplicate', `an agent ${name} was already approved on another machine`);
          allowed.add(`${name} ${source}`);
          return isHere(name, source) ? undefined : agents.create(name, source, approval);
        },
        // Other agents come from a checkout, which one machine alone must not change.
        retire: (name) => files().has(`agents/${name}.md`) && agents.retire(name),
      };
    },
  };
}

async function isAllowed(
  { name, source, approval }: Hired & { name: string },
  tasks: Pick<Tasks, 'read'>,
  consent: Consent,
): Promise<boolean> {
  for (let n = 1; ; n++) {
    const placed = await tasks.read(n === 1 ? approval : askedAgainId(approval, n));
    if (placed === undefined) return false;
    const found = soundApproval(placed.task);
    if (found?.request.tool !== 'create_agent' || found.answer?.approved !== true) continue;
    const { name: asked, content } = { ...found.request.arguments, ...found.answer.edited };
    if (asked === name && content === source && isAnswered(consent, found)) return true;
  }
}

/** The files of agents that a signed answer allows, for a folder that gets all of them. */
export async function hiredFiles(ledger: Ledger, consent: Consent): Promise<{ path: string; text: string }[]> {
  const files: { path: string; text: string }[] = [];
  const read = async (id: string): Promise<Placed | undefined> => {
    const entry = await ledger.get(TASK + id);
    return entry === undefined ? undefined : parseRow(entry.value);
  };
  for (const { key, value } of await ledger.list(HIRED, { live: true })) {
    const name = key.slice(HIRED.length);
    const hired = NAME.test(name) ? parse(value) : undefined;
    if (hired === undefined || !(await isAllowed({ name, ...hired }, { read }, consent))) continue;
    files.push({ path: `agents/${name}.md`, text: hired.source });
  }
  return files;
}

/** Puts that end the entries whose files are now part of the definitions in this folder. */
export async function noLongerHired(ledger: Ledger, root: string): Promise<Put[]> {
  const entries = await ledger.list(HIRED, { live: true });
  return entries.flatMap(({ key, rev, value }) => {
    const isPublished = textOf(path.join(root, 'agents', `${key.slice(HIRED.length)}.md`)) === parse(value)?.source;
    return isPublished ? [{ key, value: '', expect: rev, live: false }] : [];
  });
}

function entriesOf(shelf: Shelf): [name: string, hired: Hired][] {
  return shelf.all().flatMap(([name]): [string, Hired][] => {
    const hired = entryOf(shelf, name);
    return hired === undefined || !NAME.test(name) ? [] : [[name, hired]];
  });
}

function entryOf(shelf: Shelf, name: string): Hired | undefined {
  const held = shelf.get(name);
  return held === undefined ? undefined : parse(held.value);
}

/** The entry may have come from any worker. */
function parse(value: string): Hired | undefined {
  const { source, approval } = parseMapping(value) ?? {};
  return typeof source === 'string' && typeof approval === 'string' ? { source, approval } : undefined;
}

function textOf(file: string): string | undefined {
  return attempt(() => fs.readFileSync(file, 'utf8'));
}
