/** Patterns of several agents on PostgreSQL and on files, measured alternately. */
import { openWorkspace } from '../../src/app/index.js';
import { atMostTimes, median, without, type Bench, type Row } from '../harness/rows.js';
import { ADVISOR, TITLES } from '../variants/workloads.js';
import { farPlace, nearFolder } from './place.js';

const PATTERNS = [
  { agent: 'boss', title: TITLES.w2 },
  { agent: 'stage-1', title: TITLES.w3 },
] as const;

export const farPatterns: Bench = {
  name: 'far patterns',
  async run(testbed) {
    const script = '- say: done\n';
    const far = await farPlace(testbed, script);
    if (far === undefined) return [without('far: eight advisors', 'PostgreSQL is not installed')];
    const near = nearFolder(testbed, script);
    const [there, here] = [
      await openWorkspace(far.root, { env: far.env }),
      await openWorkspace(near.root, { env: near.env, history: false }),
    ];
    try {
      const rows: Row[] = [];
      for (const { agent, title } of PATTERNS) {
        const times: Record<'there' | 'here', number[]> = { there: [], here: [] };
        for (let round = 0; round < testbed.scale(60, 10); round++)
          for (const [name, workspace] of Object.entries({ there, here })) {
            const from = performance.now();
            const { state } = await workspace.run(agent, ADVISOR.request);
            if (state !== 'completed') throw new Error(`${agent} ended as ${state}`);
            times[name as keyof typeof times].push(performance.now() - from);
          }
        rows.push(atMostTimes(`far: ${title}, next to files`, median(times.there), median(times.here), 'ms', 1));
      }
      return rows;
    } finally {
      await there.close();
      await here.close();
      await far.close();
    }
  },
};
