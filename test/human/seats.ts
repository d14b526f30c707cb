/**
 * Where the person of these tests sits: in the folder in which the agents work, or in the mirror of
 * a store on another machine. Files and promises are the same.
 */
import type { TestContext } from 'node:test';
import { place, succeeds, whileRunning, type Place, type Running } from '../kit/guild.js';
import { field } from '../postgres/bench.js';
import { until } from '../kit/until.js';
import { trust } from '../kit/trust/state.js';

export interface Seat {
  /** The person's folder. */
  desk: Place;
  /** The folder of the agents. */
  work: Place;
  /** Waits until the desk shows what the agents did. */
  shows(what: () => boolean): Promise<unknown>;
  /** The agents have stopped: lets the desk show everything, and stops it. */
  leave(): Promise<void>;
}

export type TakeSeat = (t: TestContext, files: Record<string, string>) => Promise<Seat>;

export const inTheFolder: TakeSeat = async (t, files) => {
  const work = place(t, files);
  trust(work.root);
  return { desk: work, work, shows: until, leave: async () => undefined };
};

export const inAMirror: TakeSeat = async (t, files) => {
  const { server, schema, end } = await field();
  const config = `${files['guild.yaml']!}store: ${server.url}?schema=${schema}\ncoordination: { lease: 60s }\ngit: false\n`;
  const [desk, work] = [place(t, { ...files, 'guild.yaml': config }), place(t, { ...files, 'guild.yaml': config })];
  succeeds(await desk.guild('publish'));
  for (const env of [{}, process.env]) trust(work.root, env);
  const sync: Running = desk.start('sync');
  await sync.says(/shows the store/);
  return {
    desk,
    work,
    async shows(what) {
      try {
        await whileRunning([sync], until(what));
      } catch (thrown) {
        const tasks = await server.sql(
          `select key, rev, left(value, 400) as value from ${schema}.entry where key like 'task/%'`,
        );
        const logs = await server.sql(`select log, max(n) as end from ${schema}.line group by log`);
        const store = JSON.stringify({ tasks, logs }, undefined, 1);
        throw new Error(`${String(thrown)}\nsync in ${desk.root} said: ${sync.said()}\nstore: ${store}`, {
          cause: thrown,
        });
      }
    },
    async leave() {
      sync.interrupt();
      await sync.ended;
      await end();
    },
  };
};
