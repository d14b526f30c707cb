/**
 * The Kubernetes manifests against the schema of Kubernetes, in the form of its TypeScript types:
 * the compiler refuses unknown and missing fields and values of another type.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../kit/guild.js';
import { tempFolder } from '../kit/temp/folder.js';

const FOLDER = path.join(ROOT, 'deploy/kubernetes');

interface Manifest {
  apiVersion: string;
  kind: string;
}

function manifests(): Manifest[] {
  const texts = fs.readdirSync(FOLDER).map((name) => fs.readFileSync(path.join(FOLDER, name), 'utf8'));
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));
}

/** Compiles each set of manifests, and returns the complaints about each; empty: they are valid. */
function complaints(sets: readonly (readonly Manifest[])[]): string[] {
  const folder = tempFolder('manifests');
  const files = sets.map((all, n) => {
    const file = path.join(folder, `set${n}.ts`);
    fs.writeFileSync(file, all.map(declaration).join(''));
    return file;
  });
  const compiler = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const args = [compiler, '--noEmit', '--strict', '--ignoreConfig', '--pretty', 'false', '--types', '', ...files];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  const lines = stdout.split(/\n(?=\S)/);
  const found = files.map((file) => lines.filter((line) => line.startsWith(`${path.basename(file)}(`)).join('\n'));
  assert.equal(status === 0, found.join('') === '', stdout);
  return found;
}

function declaration(manifest: Manifest, n: number): string {
  const { apiVersion, kind } = manifest;
  const group = apiVersion.includes('/') ? apiVersion : `core/${apiVersion}`;
  const module = JSON.stringify(path.join(ROOT, 'node_modules/kubernetes-types', group));
  const type = `Required<Omit<import(${module}).${kind}, 'status'>>`;
  return `export const m${n}: ${type} = ${JSON.stringify(manifest)};\n`;
}

const WRONG: readonly (readonly [fault: string, from: string, to: string, complaint: RegExp])[] = [
  ['an unknown field', '"readinessProbe":', '"readynessProbe":', /readynessProbe/],
  ['an unknown field deep inside', '"secretKeyRef":', '"secretRef":', /secretRef/],
  ['text instead of a number', '"replicas":3', '"replicas":"3"', /replicas|string/],
  ['a missing field', '"selector":', '"labels":', /selector|labels/],
  ['a value for a list', '"args":["guild"', '"args":"guild","command":["guild"', /string/],
  ['another version of the group', '"apps/v1"', '"apps/v3"', /apps\/v3/],
];

test('the manifests fit the schema of Kubernetes, and one with a wrong field does not', () => {
  const right = JSON.stringify(manifests());
  const wrong = WRONG.map(([fault, from, to]) => {
    assert.ok(right.includes(from), `${fault}: ${from}`);
    return JSON.parse(right.replace(from, to)) as Manifest[];
  });
  const [own, ...others] = complaints([manifests(), ...wrong]);
  assert.equal(own, '');
  for (const [n, [fault, , , complaint]] of WRONG.entries()) assert.match(others[n]!, complaint, fault);
});
