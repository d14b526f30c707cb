/** The contract of every `Ledger`: each sentence of the port. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Add, Change, Committed, Ledger, Put, Topic } from '../../src/ports/ledger.js';
import { until } from '../kit/until.js';

interface LedgerBench {
  /** Another peer's handle on the same ledger. */
  open(): Promise<Ledger>;
  /** Releases what the bench uses, such as a schema. */
  end?(): Promise<void>;
}

type Check = (promise: string, body: (open: () => Promise<Ledger>) => Promise<void>) => void;

export function ledgerContract(name: string, bench: () => LedgerBench | Promise<LedgerBench>): void {
  const check: Check = (promise, body) => {
    test(`${name}: ${promise}`, async () => {
      const { open, end } = await bench();
      const handles: Ledger[] = [];
      try {
        await body(async () => handles[handles.push(await open()) - 1]!);
      } finally {
        await Promise.all(handles.map((ledger) => ledger.close()));
        await end?.();
      }
    });
  };
  entriesContract(check);
  logsContract(check);
  commitContract(check);
  newsContract(check);
  growthContract(check);
  ringContract(check);
}

let commits = 0;

/** One commit with a new id. */
async function commit(ledger: Ledger, change: Partial<Change>, guard?: string): Promise<Committed> {
  const answer = await ledger.commit(`test-${++commits}`, { puts: [], adds: [], ...change }, guard);
  assert.ok(answer !== 'fenced');
  return answer;
}

async function put(ledger: Ledger, key: string, value: string, more: Partial<Put> = {}): Promise<number | undefined> {
  return (await commit(ledger, { puts: [{ key, value, live: true, ...more }] })).puts[0];
}

async function add(ledger: Ledger, log: string, text: string, more: Partial<Add> = {}): Promise<number | undefined> {
  return (await commit(ledger, { adds: [{ log, text, ...more }] })).adds[0];
}

function entriesContract(check: Check): void {
  check('a key that was never used has no entry, and is created once', async (open) => {
    const [first, second] = [await open(), await open()];
    assert.equal(await first.get('k'), undefined);
    const rev = (await put(first, 'k', 'one', { expect: 0 }))!;
    assert.equal(await put(second, 'k', 'two', { expect: 0 }), undefined);
    assert.deepEqual(await second.get('k'), entry('k', rev, 'one', true));
  });

  check('of many that create one key at once, one wins', async (open) => {
    const handles = await Promise.all([open(), open(), open(), open()]);
    const revs = await Promise.all(handles.map((ledger, n) => put(ledger, 'k', `by ${n}`, { expect: 0 })));
    const winner = revs.findIndex((rev) => rev !== undefined);
    assert.equal(revs.filter((rev) => rev !== undefined).length, 1);
    assert.equal((await handles[0].get('k'))!.value, `by ${winner}`);
  });

  check('a put needs the revision that it expects', async (open) => {
    const [first, second] = [await open(), await open()];
    const one = (await put(first, 'k', 'one', { expect: 0 }))!;
    const two = (await put(second, 'k', 'two', { expect: one }))!;
    assert.equal(await put(first, 'k', 'three', { expect: one }), undefined);
    assert.deepEqual(await first.get('k'), entry('k', two, 'two', true));
    assert.equal(await put(first, 'never', 'x', { expect: two }), undefined);
    assert.equal(await first.get('never'), undefined);
  });

  check('a put without an expectation always succeeds', async (open) => {
    const ledger = await open();
    await put(ledger, 'k', 'one');
    const rev = (await put(ledger, 'k', 'two'))!;
    assert.deepEqual(await ledger.get('k'), entry('k', rev, 'two', true));
  });

  check('an entry that was taken away keeps its revision, so its key is not created again', async (open) => {
    const ledger = await open();
    const one = (await put(ledger, 'k', 'one', { expect: 0 }))!;
    const gone = (await put(ledger, 'k', '', { expect: one, live: false }))!;
    assert.equal(await put(ledger, 'k', 'new', { expect: 0 }), undefined);
    assert.deepEqual(await ledger.get('k'), entry('k', gone, '', false));
    assert.ok(await put(ledger, 'k', 'new', { expect: gone }));
  });

  check('a later commit has greater revisions, whatever the key and the peer', async (open) => {
    const [first, second] = [await open(), await open()];
    const revs = [await put(first, 'b', '1'), await put(second, 'a', '1'), await put(first, 'b', '2')] as number[];
    assert.deepEqual(
      revs,
      [...revs].sort((x, y) => x - y),
    );
    assert.equal(new Set(revs).size, 3);
  });

  check('values keep every character', async (open) => {
    const ledger = await open();
    const value = JSON.stringify({
      text: 'quotes \' " \\ \n\t\r $1 %s {} \u{1F600} é \u2028',
      long: 'x'.repeat(300_000),
    });
    await put(ledger, "odd'key/%_\\", value);
    assert.equal((await ledger.get("odd'key/%_\\"))!.value, value);
    await add(ledger, "odd'log/%_\\", value);
    assert.deepEqual((await ledger.lines("odd'log/%_\\")).texts, [value]);
  });

  check('entries are listed by prefix, the last changed first, by tag, liveness and number', async (open) => {
    const ledger = await open();
    for (const key of ['t/a', 't/b', 't/c']) await put(ledger, key, key, { tag: 'odd' });
    await put(ledger, 't_a', 'not this one');
    await put(ledger, 'u/a', 'not this one', { tag: 'odd' });
    await put(ledger, 't/a', 'changed', { tag: 'even' });
    await put(ledger, 't/c', 'ended', { live: false });
    const keys = async (...given: Parameters<Ledger['list']>): Promise<string[]> =>
      (await ledger.list(...given)).map(({ key }) => key);
    assert.deepEqual(await keys('t/'), ['t/c', 't/a', 't/b']);
    assert.deepEqual(await keys('t/', { limit: 2 }), ['t/c', 't/a']);
    assert.deepEqual(await keys('t/', { tag: 'odd' }), ['t/b']);
    assert.deepEqual(await keys('t/', { live: false }), ['t/c']);
    assert.deepEqual(await keys('t/', { live: true }), ['t/a', 't/b']);
    assert.deepEqual(await keys('none/'), []);
    const [, second] = await ledger.list('t/');
    assert.deepEqual(await keys('t/', { before: second!.rev }), ['t/b']);
    assert.deepEqual(await keys('t/', { before: second!.rev, tag: 'even' }), []);
  });

  check('entries are listed by a text in their values, also in values that are hard to store', async (open) => {
    const ledger = await open();
    await put(ledger, 't/a', '{"root":"r"}');
    await put(ledger, 't/b', '{"root":"other"}');
    await put(ledger, 't/c', '{"root":"r","text":"\u0000"}');
    const found = (await ledger.list('t/', { containing: '"root":"r"' })).map(({ key }) => key);
    assert.deepEqual(found, ['t/c', 't/a']);
  });

  check('a put with a limit is refused when that many others have the tag', async (open) => {
    const ledger = await open();
    const claim = (key: string, more: Partial<Put> = {}): Promise<number | undefined> =>
      put(ledger, key, 'x', { tag: 'claims of ana', atMost: 2, ...more });
    assert.ok(await claim('a'));
    assert.ok(await claim('b'));
    assert.equal(await claim('c'), undefined);
    assert.equal(await ledger.get('c'), undefined);
    assert.ok(await claim('b'), 'the entry itself does not count');
    assert.ok(await claim('d', { tag: 'claims of ben' }), 'other tags do not count');
    await put(ledger, 'a', 'x');
    assert.ok(await claim('c'), 'an entry that lost its tag does not count');
    await put(ledger, 'b', 'x', { tag: 'claims of ana', live: false });
    assert.ok(await claim('a'), 'an entry that is not live does not count');
  });

  check('a limit is exact when many peers reach it at once', async (open) => {
    const handles = await Promise.all([open(), open(), open(), open(), open()]);
    const revs = await Promise.all(
      handles.map((ledger, n) => put(ledger, `k${n}`, 'x', { expect: 0, tag: 'few', atMost: 2 })),
    );
    assert.equal(revs.filter((rev) => rev !== undefined).length, 2);
    assert.equal(await handles[0].count('few'), 2);
    assert.equal((await handles[0].list('k', { tag: 'few' })).length, 2);
  });
}

function logsContract(check: Check): void {
  check('a log keeps its lines in order, and is read from a place on', async (open) => {
    const ledger = await open();
    assert.deepEqual(await ledger.lines('l'), { texts: [], end: 0 });
    const one = (await add(ledger, 'l', 'one', { expect: 0 }))!;
    const two = (await add(ledger, 'l', 'two', { expect: one }))!;
    await add(ledger, 'other', 'x');
    assert.deepEqual(await ledger.lines('l'), { texts: ['one', 'two'], end: two });
    assert.deepEqual(await ledger.lines('l', { after: one }), { texts: ['two'], end: two });
    assert.deepEqual(await ledger.lines('l', { after: two }), { texts: [], end: two });
  });

  check('a line is added only where its writer believes the end to be', async (open) => {
    const [first, second] = [await open(), await open()];
    const one = (await add(first, 'l', 'one', { expect: 0 }))!;
    assert.equal(await add(second, 'l', 'other', { expect: 0 }), undefined);
    const two = (await add(second, 'l', 'two'))!;
    assert.equal(await add(first, 'l', 'late', { expect: one }), undefined);
    assert.deepEqual((await first.lines('l')).texts, ['one', 'two']);
    assert.ok(await add(first, 'l', 'three', { expect: two }));
  });

  check('of many that add at the same place at once, one wins', async (open) => {
    const handles = await Promise.all([open(), open(), open(), open()]);
    const places = await Promise.all(handles.map((ledger, n) => add(ledger, 'l', `by ${n}`, { expect: 0 })));
    assert.equal(places.filter((place) => place !== undefined).length, 1);
    assert.equal((await handles[0].lines('l')).texts.length, 1);
  });

  check('lines added anywhere all arrive, and those of one peer in their order', async (open) => {
    const handles = await Promise.all([open(), open(), open()]);
    await Promise.all(
      handles.map(async (ledger, by) => {
        for (let n = 0; n < 5; n++) await add(ledger, 'l', `${by} ${n}`);
      }),
    );
    const { texts } = await handles[0].lines('l');
    assert.equal(texts.length, 15);
    for (const by of [0, 1, 2])
      assert.deepEqual(
        texts.filter((text) => text.startsWith(`${by} `)),
        [0, 1, 2, 3, 4].map((n) => `${by} ${n}`),
      );
  });

  check('lines of one commit keep their order and tags, and each answer is the place after its line', async (open) => {
    const ledger = await open();
    await add(ledger, 'l', 'before');
    const { adds: ends } = await commit(ledger, {
      adds: [
        { log: 'l', text: 'a', tag: 'x' },
        { log: 'm', text: 'b' },
        { log: 'l', text: 'nul \u0000', tag: 'y' },
        { log: 'm', text: 'refused', expect: 0 },
        { log: 'm', text: 'c', tag: 'x' },
        { log: 'l', text: 'd' },
      ],
    });
    assert.deepEqual((await ledger.lines('l')).texts, ['before', 'a', 'nul \u0000', 'd']);
    assert.deepEqual((await ledger.lines('m')).texts, ['b', 'c']);
    assert.deepEqual((await ledger.lines('l', { tag: 'x' })).texts, ['a']);
    assert.deepEqual((await ledger.lines('l', { after: ends[0]! })).texts, ['nul \u0000', 'd']);
    assert.deepEqual((await ledger.lines('l', { after: ends[2]! })).texts, ['d']);
    assert.deepEqual((await ledger.lines('m', { after: ends[1]! })).texts, ['c']);
    assert.equal(ends[3], undefined);
    assert.ok(await add(ledger, 'm', 'e', { expect: ends[4]! }));
  });

  check('lines are selected by tag, and the oldest and newest by number', async (open) => {
    const ledger = await open();
    for (const [text, tag] of [
      ['1', 'a'],
      ['2', 'b'],
      ['3', 'a'],
    ] as const)
      await add(ledger, 'l', text, { tag });
    await add(ledger, 'l', '4');
    assert.deepEqual((await ledger.lines('l', { tag: 'a' })).texts, ['1', '3']);
    assert.deepEqual((await ledger.lines('l', { last: 2 })).texts, ['3', '4']);
    assert.deepEqual((await ledger.lines('l', { tag: 'a', last: 1 })).texts, ['3']);
    assert.deepEqual((await ledger.lines('l', { last: 0 })).texts, []);
    const first = await ledger.lines('l', { first: 2 });
    assert.deepEqual(first.texts, ['1', '2']);
    assert.deepEqual((await ledger.lines('l', { after: first.end, first: 1 })).texts, ['3']);
    assert.deepEqual((await ledger.lines('l', { tag: 'a', first: 1 })).texts, ['1']);
    assert.deepEqual((await ledger.lines('l', { first: 3, last: 1 })).texts, ['3']);
  });
}

function commitContract(check: Check): void {
  check('each put and add of a commit has its own fate, in order', async (open) => {
    const ledger = await open();
    await put(ledger, 'k1', 'taken');
    const answer = await commit(ledger, {
      puts: [
        { key: 'k2', value: 'v', expect: 0, live: true },
        { key: 'k1', value: 'v', expect: 0, live: true },
        { key: 'k0', value: 'v', expect: 0, live: true },
        { key: 'k2', value: 'again', expect: 0, live: true },
      ],
      adds: [
        { log: 'l', text: 'a', expect: 0 },
        { log: 'l', text: 'b', expect: 0 },
        { log: 'l', text: 'c' },
      ],
    });
    assert.deepEqual(
      answer.puts.map((rev) => rev !== undefined),
      [true, false, true, false],
    );
    assert.deepEqual(
      answer.adds.map((place) => place !== undefined),
      [true, false, true],
    );
    assert.equal((await ledger.get('k2'))!.rev, answer.puts[0]);
    assert.deepEqual(await ledger.lines('l'), { texts: ['a', 'c'], end: answer.adds[2] });
  });

  check('the same commit again changes nothing and gets the first answer', async (open) => {
    const [first, second] = [await open(), await open()];
    const change: Change = {
      puts: [
        { key: 'k', value: 'v', expect: 0, live: true },
        { key: 'k', value: 'v', expect: 0, live: true },
      ],
      adds: [{ log: 'l', text: 'once' }],
    };
    const id = `test-${++commits}`;
    const answer = await first.commit(id, change);
    assert.ok(answer !== 'fenced' && answer.puts[0] !== undefined && answer.puts[1] === undefined);
    assert.deepEqual(await first.commit(id, change), answer);
    assert.deepEqual(await second.commit(id, change), answer);
    assert.deepEqual((await second.lines('l')).texts, ['once']);
  });

  check('a guarded commit happens only while its guard is live', async (open) => {
    const [first, second] = [await open(), await open()];
    const change: Change = { puts: [{ key: 'k', value: 'v', live: true }], adds: [{ log: 'l', text: 'x' }] };
    assert.equal(await first.commit(`test-${++commits}`, change, 'peer/a'), 'fenced', 'never used');
    await put(first, 'peer/a', 'alive', { expect: 0 });
    const id = `test-${++commits}`;
    const answer = await first.commit(id, change, 'peer/a');
    assert.ok(answer !== 'fenced');
    await put(second, 'peer/a', 'dead', { live: false });
    assert.equal(await first.commit(`test-${++commits}`, change, 'peer/a'), 'fenced');
    assert.deepEqual((await second.lines('l')).texts, ['x']);
    assert.deepEqual(await first.commit(id, change, 'peer/a'), answer, 'an earlier one is answered as it was');
  });

  check('a guard that ends in the middle of many commits stops all that come after it', async (open) => {
    const [first, second] = [await open(), await open()];
    await put(first, 'peer/a', 'alive', { expect: 0 });
    const writes = Array.from({ length: 20 }, (_, n) =>
      first.commit(`test-${++commits}`, { puts: [], adds: [{ log: 'l', text: String(n) }] }, 'peer/a'),
    );
    await put(second, 'peer/a', 'dead', { live: false });
    const { texts } = await second.lines('l');
    const answers = await Promise.all(writes);
    assert.equal((await second.lines('l')).texts.length, texts.length, 'nothing was written afterwards');
    assert.equal(answers.filter((answer) => answer !== 'fenced').length, texts.length);
  });

  check('two peers that change the same keys in opposite order do not block each other', async (open) => {
    const [first, second] = [await open(), await open()];
    const keys = Array.from({ length: 10 }, (_, n) => `k${n}`);
    const write = (ledger: Ledger, order: string[]): Promise<Committed> =>
      commit(ledger, { puts: order.map((key) => ({ key, value: order[0]!, live: true })), adds: [] });
    for (let round = 0; round < 5; round++) await Promise.all([write(first, keys), write(second, keys.toReversed())]);
    const values = await Promise.all(keys.map(async (key) => (await first.get(key))!.value));
    assert.equal(new Set(values).size, 1, 'one of them was last, as a whole');
  });
}

function newsContract(check: Check): void {
  check('news are at first every live entry, then those that changed', async (open) => {
    const [first, second] = [await open(), await open()];
    await put(first, 'a', '1');
    await put(first, 'b', '1', { live: false });
    const { entries, isComplete } = await second.news();
    assert.deepEqual([isComplete, entries.map(({ key, value }) => [key, value])], [true, [['a', '1']]]);
    await put(first, 'a', '2');
    await put(first, 'c', '1');
    const news = await latest(second);
    assert.equal((await second.news()).isComplete, false);
    assert.deepEqual([news['a'], news['c']], ['2', '1']);
    await put(first, 'a', '', { live: false });
    const ended = (await second.news()).entries.findLast(({ key }) => key === 'a')!;
    assert.deepEqual([ended.live, ended.value], [false, ''], 'an end is news');
    assert.equal((await latest(await open()))['a'], undefined, 'but not for a newcomer');
  });

  check("a peer's own changes are news too", async (open) => {
    const ledger = await open();
    await ledger.news();
    await put(ledger, 'a', '1');
    assert.equal((await latest(ledger))['a'], '1');
  });

  check('no acknowledged change is missed while many peers write', async (open) => {
    const [reader, ...writers] = await Promise.all([open(), open(), open(), open()]);
    const acknowledged = new Map<string, number>();
    const seen = new Map<string, number>();
    let isWriting = true;
    const writing = Promise.all(
      writers.map(async (ledger, by) => {
        for (let n = 1; n <= 25; n++) acknowledged.set(`${by}`, (await put(ledger, `${by}`, String(n)))!);
      }),
    ).then(() => (isWriting = false));
    do {
      const before = new Map(acknowledged);
      for (const { key, rev } of (await reader.news()).entries) seen.set(key, Math.max(rev, seen.get(key) ?? 0));
      for (const [key, rev] of before) assert.ok(seen.get(key)! >= rev, `${key} has ${rev}, seen ${seen.get(key)}`);
    } while (isWriting);
    await writing;
  });
}

/** The news as an object: for each key, the greatest revision counts. */
async function latest(ledger: Ledger): Promise<Record<string, string>> {
  const news = (await ledger.news()).entries.sort((one, other) => one.rev - other.rev);
  return Object.fromEntries(news.map(({ key, value }) => [key, value]));
}

function growthContract(check: Check): void {
  check('logs that grew since a mark are named', async (open) => {
    const [first, second] = [await open(), await open()];
    for (const log of ['bus/a', 'bus/b', 'session/s', 'events']) await add(first, log, 'x');
    const all = await second.grown(['bus/', 'session/']);
    assert.deepEqual(all.logs.sort(), ['bus/a', 'bus/b', 'session/s']);
    await add(first, 'bus/b', 'y');
    await add(first, 'events', 'y');
    const some = await second.grown(['bus/', 'session/'], all.mark);
    assert.ok(some.logs.includes('bus/b') && !some.logs.includes('events'));
    assert.deepEqual((await second.grown(['none/'], all.mark)).logs, []);
    const repeated = await first.grown(['bus/'], all.mark);
    assert.ok(repeated.logs.includes('bus/b'), 'a mark belongs to no handle');
  });
}

function ringContract(check: Check): void {
  check('new lines of several logs come at once, after the known ends', async (open) => {
    const [first, second] = [await open(), await open()];
    const add = (log: string, text: string) =>
      first.commit(`${log} ${text}`, { puts: [], adds: [{ log, text }] }) as Promise<Committed>;
    await add('bus/a', 'one');
    await add('session/s', 'other');
    await add('bus/b', 'two');
    const all = await second.newLines(['bus/'], { ends: new Map() });
    const textsOf = ({ logs }: typeof all): object =>
      Object.fromEntries([...logs].map(([log, { texts }]) => [log, texts]).sort());
    assert.deepEqual(textsOf(all), { 'bus/a': ['one'], 'bus/b': ['two'] });
    const end = (await add('bus/a', 'three')).adds[0];
    await add('bus/a', 'four');
    const ends = new Map([...all.logs].map(([log, lines]) => [log, lines.end]));
    const more = await second.newLines(['bus/'], { mark: all.mark, ends });
    assert.deepEqual(textsOf(more), { 'bus/a': ['three', 'four'] });
    ends.set('bus/a', end!);
    assert.deepEqual(textsOf(await second.newLines(['bus/'], { mark: all.mark, ends })), { 'bus/a': ['four'] });
    ends.set('bus/a', more.logs.get('bus/a')!.end);
    assert.deepEqual(textsOf(await second.newLines(['bus/'], { mark: more.mark, ends })), {});
  });

  check('a commit wakes those who listen to one of its topics', async (open) => {
    const [first, second] = [await open(), await open()];
    const heard = new Set<string>();
    const offs = [
      await second.onRing(() => heard.add('notes'), ['notes']),
      await second.onRing(() => heard.add('work or views'), ['work', 'views']),
      await second.onRing(() => heard.add('any')),
    ];
    const wakes = async (topics: readonly Topic[], ...expected: string[]): Promise<void> => {
      heard.clear();
      await first.commit(topics.join(), { puts: [{ key: 'k', value: topics.join(), live: true }], adds: [], topics });
      await until(() => expected.every((name) => heard.has(name)));
    };
    await wakes(['notes'], 'notes', 'any');
    await wakes(['views'], 'work or views', 'any');
    await wakes(['notes', 'work'], 'notes', 'work or views', 'any');
    for (const off of offs) await off();
  });

  check('a commit and a ring wake the other peers, until they stop listening', async (open) => {
    const [first, second] = [await open(), await open()];
    let rings = 0;
    const stop = await second.onRing(() => rings++);
    await put(first, 'k', 'v');
    await until(() => rings > 0);
    const before = rings;
    first.ring();
    await until(() => rings > before);
    await stop();
    const heard = rings;
    await put(first, 'k', 'w');
    first.ring();
    await second.get('k');
    assert.equal(rings, heard);
  });
}

function entry(key: string, rev: number, value: string, live: boolean): object {
  return { key, rev, value, live };
}
