/**
 * `npm run soak:terminals`: several real processes on one workspace, paused, killed, stopped and
 * restarted at random. `--rounds n`, `--seed n`, `--scene a,b`, `--mode a,b`. Reports each round.
 * On a problem it keeps the folder and the output and exits with 1.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { seeded } from '../kit/sim-processes.js';
import { MODES, play, type Mode } from './round.js';
import { SCENES, type Scene } from './scenes.js';
import type { Outcome } from './verdict.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    seed: { type: 'string' },
    scene: { type: 'string' },
    mode: { type: 'string' },
  },
});
const rounds = Number(values.rounds ?? 1);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const isWanted = (name: string, wanted: string | undefined): boolean => wanted?.split(',').includes(name) ?? true;
const scenes = SCENES.filter(({ name }) => isWanted(name, values.scene));
const modes = MODES.filter((name) => name !== 'none' && isWanted(name, values.mode));
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-terminals-'));
console.log(`${scenes.length} scenes, each ${rounds} times as ${modes.join(', ')}; seed ${seed}, in ${home}`);
let [played, bad] = [0, 0];
for (const scene of scenes) {
  const undisturbed = await one(scene, 'none', seed, undefined);
  for (let i = 0; i < rounds; i++) for (const mode of modes) await one(scene, mode, seed + i, undisturbed);
}
console.log(`${played} rounds, ${bad === 0 ? 'nothing' : bad} wrong`);
if (bad > 0) process.exit(1);
fs.rmSync(home, { recursive: true, force: true });

async function one(scene: Scene, mode: Mode, number: number, was: Outcome | undefined): Promise<Outcome | undefined> {
  const root = path.join(home, `${scene.name}-${mode}-${number}`);
  const round = await play({ scene, mode, root, random: seeded(number), was });
  const { ms, pauses, deaths, stops, wrong } = round;
  console.log(`${scene.name} ${mode} ${number}: ${ms} ms, ${pauses} pauses, ${deaths} deaths, ${stops} stops`);
  for (const line of wrong) console.log(`  wrong: ${line.replaceAll('\n', '\n    ')}`);
  played++;
  if (wrong.length === 0) fs.rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  else {
    bad++;
    fs.writeFileSync(`${root}.said.txt`, round.said);
  }
  return round.outcome;
}
