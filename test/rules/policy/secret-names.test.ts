import assert from 'node:assert/strict';
import test from 'node:test';
import { fc } from '../../kit/properties.js';
import { secretPath } from '../../../src/rules/policy/never/secrets.js';
import { isSecretName, mayBeSecret } from '../../../src/rules/policy/names/secret-names.js';

const SECRETS = [
  ...['.env', '.env.local', 'prod.env', 'secrets', '.ssh', 'id_rsa', 'id_ed25519_sk.old', 'ssh_host_rsa_key'],
  ...['x.pem', 'server.key.bak', 'a.p12', '.netrc', '_netrc', '.npmrc', 'kubeconfig', 'credentials.json'],
  ...['rclone.conf', 'x.tfstate.backup', '.docker/config.json', '.cargo/credentials', '.config/gh/hosts.yml'],
];
const PARTS = [...SECRETS, 'notes', 'a.md', '..', '.', 'docs'];
const path = fc.array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const inAnyCase = fc.tuple(path, fc.boolean()).map(([text, isUpper]) => (isUpper ? text.toUpperCase() : text));

test('the quick look at a name lets no secret through', () => {
  fc.assert(
    fc.property(inAnyCase, (text) => {
      if (isSecretName(text.toLowerCase().split('/'))) assert.ok(mayBeSecret(text), text);
    }),
  );
});

test('a command that names a secret, a session or a device asks, wherever the name stands in the path', () => {
  for (const name of [...SECRETS, 'sessions/x', 'Sessions/x', 'a.session.yaml', '.guild/x'])
    for (const before of ['', 'docs/', './', 'a/../', '../', '/srv/'])
      assert.ok(secretPath(before + name, {}) !== undefined, before + name);
  for (const device of ['/dev/sda', '/proc/1/environ', '/etc/shadow'])
    assert.ok(secretPath(device, {}) !== undefined, device);
});
