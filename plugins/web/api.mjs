/**
 * A search API over HTTP: one GET request, and a path to the results in its JSON. Redirects are not
 * followed, so the key is not sent to another host.
 */
const MAX_BYTES = 2_000_000;
const TIMEOUT_MS = 20_000;

export async function askApi({ env, config }, query, limit, signal) {
  const url = config.url.replaceAll('{query}', encodeURIComponent(query)).replaceAll('{limit}', String(limit));
  const key = config.key_env === undefined ? undefined : env[config.key_env];
  if (config.key_env !== undefined && !key) return failure(`${config.key_env} is not set`);
  const headers = { accept: 'application/json', ...(key ? keyHeader(config.header, key) : {}) };
  let answer;
  try {
    const abort = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])]);
    const response = await fetch(url, { headers, signal: abort, redirect: 'error' });
    const text = await readLimited(response);
    if (!response.ok) return failure(`the search service answered ${response.status}: ${text.slice(0, 200)}`);
    answer = JSON.parse(text);
  } catch (thrown) {
    return failure(`the search service cannot be used: ${thrown.cause?.message ?? thrown.message}`);
  }
  const results = valueAt(answer, config.results ?? 'results');
  if (!Array.isArray(results))
    return failure(
      `the answer has no list at ${JSON.stringify(config.results ?? 'results')}; check plugins.web.results in guild.yaml`,
    );
  const { title = 'title', link = 'url', text = 'description' } = config.fields ?? {};
  const lines = results
    .slice(0, limit)
    .map((result) =>
      JSON.stringify({ title: valueAt(result, title), url: valueAt(result, link), text: valueAt(result, text) }),
    );
  return { success: true, content: lines.join('\n') || 'No results.' };
}

function keyHeader(header = 'authorization: Bearer {key}', key) {
  const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(header) ?? [];
  return name === undefined ? {} : { [name]: value.replaceAll('{key}', key) };
}

async function readLimited(response) {
  const chunks = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error('the answer is larger than 2 MB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** `web.results` in {web: {results: …}}. */
function valueAt(json, keyPath) {
  return keyPath
    .split('.')
    .reduce((value, key) => (typeof value === 'object' && value !== null ? value[key] : undefined), json);
}

function failure(content) {
  return { success: false, content };
}
