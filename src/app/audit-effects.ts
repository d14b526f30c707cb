/**
 * `guild doctor --audit`: compares the event log with the records of effects. An event that reports
 * an effect as done without a record means that it never ran, or ran without protection.
 */
import type { Event } from '../domain/event.js';
import { childId, isSafeId } from '../domain/task/id.js';
import type { Store } from '../ports/store/index.js';
import { toolbox } from '../tools/toolbox.js';
import { openReader } from './readers/open-reader.js';

interface UnrecordedEffect {
  task: string;
  call: string;
  tool: string;
  agent: string;
  at: string;
}

interface EffectAudit {
  /** Effects that the events report as done. */
  effects: number;
  unrecorded: UnrecordedEffect[];
}

export async function auditEffects(root: string): Promise<EffectAudit> {
  const store = openReader(root);
  try {
    return await compare(store);
  } finally {
    await store.close();
  }
}

async function compare({ events, effects }: Pick<Store, 'events' | 'effects'>): Promise<EffectAudit> {
  const seen = new Set<string>();
  const unrecorded: UnrecordedEffect[] = [];
  const isEffect = effectEvents();
  for (const event of await events.list()) {
    if (!isEffect(event)) continue;
    const [task, call] = [event.task ?? '', event.cause ?? ''];
    const id = childId(task, `call-${call}`);
    if (seen.has(id)) continue;
    seen.add(id);
    if (isSafeId(id) && (await effects.get(id)).state !== 'none') continue;
    unrecorded.push({ task, call, tool: String(event['tool']), agent: event.agent ?? '', at: event.at });
  }
  return { effects: seen.size, unrecorded };
}

/** Events of earlier versions do not say that the tool has an effect. */
function effectEvents(): (event: Event) => boolean {
  const tools = toolbox();
  return (event) =>
    event.name === 'tool.ran' &&
    event['ok'] === true &&
    (event['effect'] === true || tools.get(String(event['tool']))?.kind === 'effect');
}
