/**
 * The container files without a container: they parse, they name commands and options that exist,
 * and their command lines run here as plain processes.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { COMMANDS } from '../../src/cli/commands.js';
import { environment, place, ROOT, scripted, succeeds, whileRunning, type Ran } from '../kit/guild.js';
import { NO_POSTGRES } from '../kit/postgres/server.js';
import { until } from '../kit/until.js';
import { field } from './bench.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('postgres/containers', 3);

const options = { skip: NO_POSTGRES };
const read = (file: string): string => fs.readFileSync(path.join(ROOT, file), 'utf8');

interface Compose {
  services: Record<
    string,
    { environment: Record<string, string>; command?: string[]; depends_on?: object; tmpfs?: string[] }
  >;
}
interface Container {
  args: string[];
  env: { name: string }[];
  ports: { containerPort: number }[];
  workingDir: string;
  volumeMounts: { mountPath: string }[];
  readinessProbe: { exec: { command: string[] } };
  lifecycle: { preStop: { exec: { command: string[] } } };
}
interface Deployment {
  kind: string;
  spec: { replicas: number; selector: { matchLabels: object }; template: { metadata: { labels: object }; spec: Pod } };
}
interface Pod {
  terminationGracePeriodSeconds: number;
  securityContext: { runAsNonRoot: boolean };
  initContainers: { args: string[] }[];
  containers: Container[];
}

function worker(): { deployment: Deployment; pod: Pod; container: Container } {
  const documents = parseAllDocuments(read('deploy/kubernetes/worker.yaml'));
  assert.deepEqual(
    documents.flatMap(({ errors }) => errors),
    [],
  );
  const deployment = documents[0]!.toJS() as Deployment;
  const pod = deployment.spec.template.spec;
  return { deployment, pod, container: pod.containers[0]! };
}

/** Every `guild …` in the files that start a container. */
function commandLines(): string[][] {
  const docker = read('Dockerfile');
  const listed = [...docker.matchAll(/CMD (\[.*\])/g)].map(([, list]) => JSON.parse(list!) as string[]);
  const { container } = worker();
  const compose = (parse(read('compose.yaml')) as Compose).services['worker']!.command!;
  const shell = [...compose.join(' ').matchAll(/guild [^&;']*/g)].map(([line]) => line.trim().split(' '));
  return [...listed, container.args, container.readinessProbe.exec.command, ...shell];
}

test('every command line of the container files names a command and options that exist', async () => {
  const lines = commandLines();
  assert.ok(lines.length >= 5, JSON.stringify(lines));
  for (const [program, name, ...rest] of lines) {
    assert.equal(program, 'guild');
    const listed = COMMANDS.find((each) => each.name === name);
    assert.ok(listed, `guild ${name}`);
    const { command } = await listed.load();
    const known = ['--quiet', '--workspace', ...Object.keys(command.options ?? {}).map((option) => `--${option}`)];
    for (const word of rest.filter((each) => each.startsWith('--'))) assert.ok(known.includes(word), `${name} ${word}`);
  }
});

test('the manifest drains, is not root, and its selector fits its pods', () => {
  const { deployment, pod, container } = worker();
  assert.equal(deployment.kind, 'Deployment');
  assert.equal(deployment.spec.replicas, 3);
  assert.deepEqual(deployment.spec.selector.matchLabels, deployment.spec.template.metadata.labels);
  assert.equal(pod.securityContext.runAsNonRoot, true);
  assert.ok(pod.terminationGracePeriodSeconds >= 30);
  assert.match(container.lifecycle.preStop.exec.command.join(' '), /kill -INT 1/);
  assert.deepEqual(
    container.env.map(({ name }) => name),
    ['GUILD_STORE', 'GUILD_TRUST'],
  );
  const { services } = parse(read('compose.yaml')) as Compose;
  assert.deepEqual(Object.keys(services), ['database', 'worker']);
  assert.deepEqual(Object.keys(services['worker']!.environment), ['GUILD_STORE', 'GUILD_TRUST']);
  assert.match(read('Dockerfile'), /^USER node$/m);
});

test('workers get a folder that is their own and that their health check looks at', () => {
  const [, folder] = /^WORKDIR (\/\w+)\nENV/m.exec(read('Dockerfile'))!;
  const { tmpfs, command } = (parse(read('compose.yaml')) as Compose).services['worker']!;
  assert.deepEqual(tmpfs, [`${folder}:uid=1000,gid=1000,mode=0700`], 'of user node, and nobody else writes there');
  assert.ok(command!.at(-1)!.startsWith(`cp -r /definitions/. ${folder} && `));
  // A volume belongs to root and is open to all, so the definitions are in a folder below it.
  const { pod, container } = worker();
  assert.equal(path.dirname(container.workingDir), container.volumeMounts[0]!.mountPath);
  assert.equal(pod.initContainers[0]!.args.at(-1), container.workingDir);
});

test(
  'a worker started as in compose.yaml copies the definitions and works; its health check sees it',
  options,
  async (t) => {
    const { server, schema, end } = await field();
    const env = { GUILD_STORE: `${server.url}?schema=${schema}` };
    const files = scripted('- {agent: boss, turn: 1, say: "done in a container"}\n');
    // A plugin acts, so a person has to trust the workspace.
    const desk = place(t, { ...files, 'guild.yaml': `${files['guild.yaml']}plugins: { web: {} }\n` });
    // In separate processes, as on any machine: they take the address from their environment.
    const guild = (...args: string[]): Promise<Ran> => desk.spawnWith({ env }, ...args).ended;
    const published = succeeds(await guild('publish', '--json'));
    const { trust } = JSON.parse(published.out) as { trust: string };
    const box = place(t);
    const [shell, flag, line] = (parse(read('compose.yaml')) as Compose).services['worker']!.command!;
    assert.deepEqual([shell, flag], ['sh', '-c']);
    const copy = line!.split('&&')[0]!.replace('/definitions', desk.root).replace('/workspace', box.root);
    assert.equal(spawnSync('sh', ['-c', copy]).status, 0);
    const given = { env: { ...env, GUILD_TRUST: trust }, untrusted: true as const };
    const other = { env: { ...env, GUILD_TRUST: 'another' }, untrusted: true as const };
    succeeds(await guild('task', 'add', 'Wait', '--to', 'boss', '--id', 'early'));
    const { err: refused } = await box.spawnWith(other, 'pump').ended;
    assert.match(refused, /this machine does not trust the workspace: set GUILD_TRUST/, 'another digest is not enough');
    assert.match((await guild('task', 'show', 'early')).out, /pending/, 'so it takes no work, also of other agents');
    const running = box.spawnWith(given, 'watch');
    await whileRunning([running], running.says(/watching/));
    succeeds(await guild('task', 'add', 'Do it', '--to', 'boss', '--id', 'one'));
    await whileRunning(
      [running],
      until(async () => /completed/.test((await guild('task', 'show', 'one')).out)),
    );
    const health = (store: string): number | null =>
      spawnSync(process.execPath, [path.join(ROOT, 'bin/guild.mjs'), 'state', '--quiet'], {
        cwd: box.root,
        env: environment(box.root, { ...given.env, GUILD_STORE: store }),
      }).status;
    assert.equal(health(env.GUILD_STORE), 0);
    assert.notEqual(health('postgres://guild@127.0.0.1:1/none'), 0, 'a store that is away is not healthy');
    running.child.kill('SIGINT'); // as the manifest does before it stops a pod
    const { code, err } = await running.ended;
    assert.equal(code, 0, 'it drains and ends well');
    assert.doesNotMatch(err, /guild trust/, 'the published digest is trusted');
    await end();
  },
);
