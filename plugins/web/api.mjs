/** A search API over HTTP: one GET, and where in its JSON the results stand. No redirect to another host is followed, so a key stays where it belongs. */
const MAX_BYTES = 2_000_000;
const TIME_MS = 20_000;

export async function askApi({ env, config }, query, limit, signal) {
  const url = config.url.replaceAll('{query}', encodeURIComponent(query)).replaceAll('{limit}', String(limit));
  const key = config.key_env === undefined ? undefined : env[config.key_env];
  if (config.key_env !== undefined && !key) return no(`the environment has no ${config.key_env}`);
  const headers = { accept: 'application/json', ...(key ? keyHeader(config.header, key) : {}) };
  let answer;
  try {
    const until = AbortSignal.any([AbortSignal.timeout(TIME_MS), ...(signal ? [signal] : [])]);
    const response = await fetch(url, { headers, signal: until, redirect: 'error' });
    const text = await limited(response);
    if (!response.ok) return no(`the search service answered ${response.status}: ${text.slice(0, 200)}`);
    answer = JSON.parse(text);
  } catch (thrown) {
    return no(`the search service cannot be used: ${thrown.cause?.message ?? thrown.message}`);
  }
  const found = at(answer, config.results ?? 'results');
  if (!Array.isArray(found))
    return no(
      `the answer has no list at ${JSON.stringify(config.results ?? 'results')}; see "results" of the plugin web in guild.yaml`,
    );
  const { title = 'title', link = 'url', text = 'description' } = config.fields ?? {};
  const lines = found
    .slice(0, limit)
    .map((one) => JSON.stringify({ title: at(one, title), url: at(one, link), text: at(one, text) }));
  return { success: true, content: lines.join('\n') || 'Nothing was found.' };
}

function keyHeader(header = 'authorization: Bearer {key}', key) {
  const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(header) ?? [];
  return name === undefined ? {} : { [name]: value.replaceAll('{key}', key) };
}

async function limited(response) {
  const chunks = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error('its answer is over 2 MB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** `web.results` in {web: {results: …}}. */
function at(value, place) {
  return place
    .split('.')
    .reduce((here, name) => (typeof here === 'object' && here !== null ? here[name] : undefined), value);
}

function no(content) {
  return { success: false, content };
}
