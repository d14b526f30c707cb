/**
 * `guild chat` on a real terminal next to a raw client on one: how soon the first word is shown
 * after the provider has sent it, and whether late turns of a conversation cost more than early
 * ones. Both clients are asked in turns, and the same server answers both.
 */
import fs from 'node:fs';
import path from 'node:path';
import {
  chatTerminal,
  rawClient,
  rawFollowUp,
  wordServer,
  type Provider,
  type Turn,
} from '../harness/chat-terminal.js';
import { atMostOver, median, type Bench, type Row, type Testbed } from '../harness/rows.js';
import { runProcess } from '../harness/run-process.js';
import { shippedWorkspace } from '../harness/shipped-workspace.js';

const MAX_OVER_MS = 15;
const WARM_UPS = 3;
/** Long enough for the first word to be drawn alone. */
const PAUSE_MS = 150;

interface Pair<T> {
  guild: T;
  raw: T;
}

export const chat: Bench = {
  name: 'chat',
  minutes: 4,
  async run(testbed) {
    const firstWords = await withClients(testbed, 'chat', PAUSE_MS, async ({ askBoth }) => {
      const turns: Pair<Turn>[] = [];
      for (let round = 0; round < WARM_UPS + testbed.scale(30, 4); round++) turns.push(await askBoth(`round ${round}`));
      return turns.slice(WARM_UPS);
    });
    const word = (who: keyof Pair<Turn>): number => median(firstWords.map((turn) => turn[who].firstWordMs));
    return [
      atMostOver('guild chat: first word on the terminal', word('guild'), word('raw'), 'ms', MAX_OVER_MS),
      ...(await withClients(testbed, 'long-chat', 0, (long) =>
        withClients(testbed, 'short-chats', 0, (short) => longChat(testbed, long, short)),
      )),
    ];
  },
};

interface Clients {
  root: string;
  folder: string;
  provider: Provider;
  askBoth(question: string): Promise<Pair<Turn>>;
  newConversations(): Promise<void>;
}

async function withClients<T>(
  testbed: Testbed,
  name: string,
  pauseMs: number,
  work: (clients: Clients) => Promise<T>,
): Promise<T> {
  const provider = await wordServer(pauseMs);
  const folder = testbed.folder(name);
  const root = shippedWorkspace(testbed.build, folder, { url: provider.url });
  const script = path.join(folder, 'raw.mjs');
  fs.writeFileSync(script, rawClient(provider.url));
  const ours = chatTerminal(root, [testbed.build.guild, 'chat', 'reader', '-w', root]);
  const raw = chatTerminal(folder, [script]);
  try {
    await ours.shows('reader> ');
    await raw.shows('> ');
    return await work({
      root,
      folder,
      provider,
      askBoth: async (question) => ({
        guild: await ours.ask(provider, question),
        raw: await raw.ask(provider, question),
      }),
      async newConversations() {
        await ours.type('/new', 'a new conversation');
        await raw.type('/new', 'a new conversation');
      },
    });
  } finally {
    ours.close();
    raw.close();
    provider.close();
  }
}

const EARLY = 10;
const LATE = 1000;
/** The value of a turn is the median over this many turns. */
const WINDOW = 60;
const FOLLOW_UPS = 9;
/** A late turn may cost no more than an early turn; medians differ by this much in any case. */
const MAX_RATIO = 1.1;

/**
 * One conversation of 1,000 turns beside conversations of ten: both clients are asked in turns and
 * are equally old, so that load and compilation hit both.
 */
async function longChat(testbed: Testbed, long: Clients, short: Clients): Promise<Row[]> {
  const late = testbed.scale(LATE, 60);
  const turns: { late: Pair<Turn>; early: Pair<Turn> }[] = [];
  for (let turn = 1; turn <= late; turn++) {
    if (turn % EARLY === 1) await short.newConversations();
    turns.push({ early: await short.askBoth(`turn ${turn}`), late: await long.askBoth(`turn ${turn}`) });
  }
  const last = turns.slice(-WINDOW);
  const over = (which: 'early' | 'late', figure: 'ms' | 'cpuMs'): number => {
    const values = (who: keyof Pair<Turn>): number[] => last.map((turn) => turn[which][who][figure]);
    return median(values('guild')) - median(values('raw'));
  };
  return [
    growth(`guild chat: time of turn ${late}`, `turns to ${EARLY}`, over('early', 'ms'), over('late', 'ms')),
    growth(
      `guild chat: processor time of turn ${late}`,
      `turns to ${EARLY}`,
      over('early', 'cpuMs'),
      over('late', 'cpuMs'),
    ),
    await followUps(testbed, long, short, late),
  ];
}

/** `guild run -c` after many turns and after few, in turns, next to a raw client. */
async function followUps(testbed: Testbed, long: Clients, short: Clients, late: number): Promise<Row> {
  const cpuMs = async (args: string[]): Promise<number> => (await runProcess(args)).cpuMs;
  const clients = [
    { of: short, turns: EARLY },
    { of: long, turns: late },
  ].map(({ of: { root, folder, provider }, turns }) => {
    const [script, file] = [path.join(folder, 'raw-follow-up.mjs'), path.join(folder, 'raw.json')];
    fs.writeFileSync(script, rawFollowUp(provider.url));
    fs.writeFileSync(file, JSON.stringify(rawMessages(turns)));
    return {
      ours: [testbed.build.guild, 'run', '-c', '-w', root, '--quiet'],
      raw: [script, file],
      over: [] as number[],
    };
  });
  for (let n = 0; n < FOLLOW_UPS; n++)
    for (const { ours, raw, over } of clients)
      over.push((await cpuMs([...ours, `more ${n}`])) - (await cpuMs([...raw, `more ${n}`])));
  const [before, after] = clients.map(({ over }) => median(over)) as [number, number];
  return growth(`guild run -c: processor time after ${late} turns`, `after ${EARLY}`, before, after);
}

function rawMessages(turns: number): { role: string; content: string }[] {
  return Array.from({ length: turns }, (_, n) => [
    { role: 'user', content: `turn ${n}` },
    { role: 'assistant', content: `word${n}x and more.` },
  ]).flat();
}

function growth(what: string, early: string, before: number, after: number): Row {
  return {
    name: `${what} against ${early}, both over raw`,
    ours: after / before,
    unit: 'times',
    compared: `${before.toFixed(1)} → ${after.toFixed(1)} ms`,
    target: `≤ ×${MAX_RATIO}`,
    met: after <= before * MAX_RATIO,
  };
}
