/** The figures for Prometheus: only for this machine, and without a word of any task. */
import assert from 'node:assert/strict';
import http from 'node:http';
import test from 'node:test';
import { counters, metricsText } from '../../src/views/metrics.js';
import { serveMetrics } from '../../src/web/metrics.js';

function ask(
  address: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<{ code: number; body: string }> {
  return new Promise((resolve, reject) => {
    const request = http.request(address, { headers, method }, (response) => {
      let body = '';
      response.on('data', (chunk) => (body += String(chunk)));
      response.on('end', () => resolve({ code: response.statusCode!, body }));
    });
    request.on('error', reject).end();
  });
}

test('a page whose name leads to this machine gets no figures', async (t) => {
  const { address, close } = await serveMetrics('0', async () => 'guild_x 1\n');
  t.after(close);
  const port = new URL(address).port;
  for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example', 'localhost.'])
    assert.equal((await ask(address, { host })).code, 403, host);
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, 'LOCALHOST'])
    assert.equal((await ask(address, { host })).code, 200, host);
  assert.equal((await ask(address, { host: 'localhost' }, 'POST')).code, 404);
});

test('a name cannot add a line, and no text of a task is in the figures', () => {
  const counted = counters();
  const event = { at: '2026-01-01T00:00:00.000Z', peer: 'p', task: 't' };
  counted.count({
    ...event,
    name: 'tool.ran',
    agent: 'a"} 9\nguild_cost_dollars_total 0\n#',
    what: 'the safe code is 4711',
  });
  const text = metricsText({ pending: 1, active: 0, waiting: 0, requests: 0, processes: 1, worstLagMs: 0 }, counted);
  assert.doesNotMatch(text, /^guild_cost_dollars_total 0$/m);
  assert.doesNotMatch(text, /4711/);
  for (const line of text.trim().split('\n')) assert.match(line, /^(?:# (?:HELP|TYPE) |guild_\w+(?:\{.*\})? [\d.]+$)/);
});
