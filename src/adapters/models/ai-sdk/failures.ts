/**
 * From whatever a provider threw or streamed to the class that decides what happens next, and one sentence for a person that
 * says what to set and where. Errors are known by their fields, not by their classes, so that no provider package is loaded here.
 */
import type { ModelFailure, ModelFailureClass } from '../../../ports/model.js';

/** What the sentence can name. */
export interface Asked {
  provider: string;
  model: string;
  agent: string;
  /** Where requests go, for people: without credentials. */
  address: string;
  keyEnv?: string;
  /** Never to be shown. */
  secret?: string;
  now: Date;
}

interface Thrown {
  name?: string;
  message?: string;
  code?: unknown;
  type?: unknown;
  status?: unknown;
  statusCode?: number;
  responseBody?: string;
  responseHeaders?: Record<string, string>;
  cause?: unknown;
}

export function failureOf(error: unknown, asked: Asked): ModelFailure {
  const thrown: Thrown = typeof error === 'object' && error !== null ? error : { message: String(error) };
  const stalled = find(thrown, (one) => one.name === 'StalledError');
  if (stalled) return failure('cut_off', asked, `fell silent in the middle of an answer (${stalled.message})`);
  const network = find(
    thrown,
    (one) => typeof one.code === 'string' && /^(E[A-Z]{3,}|CERT_|DEPTH_|SELF_|UNABLE_|ERR_)/.test(one.code),
  );
  const status = thrown.statusCode ?? 0;
  if (network && status >= 200 && status < 300)
    return failure('cut_off', asked, `broke off in the middle of an answer (${String(network.code)})`);
  if (status >= 300) return fromStatus(status, thrown, asked);
  if (network)
    return failure(
      'unreachable',
      asked,
      `cannot be reached at ${asked.address} (${networkWords(network)})`,
      'check the address and that it is running',
    );
  if (
    /JSONParse|TypeValidation|EmptyResponseBody|InvalidResponseData|NoContentGenerated/.test(thrown.name ?? '') ||
    status >= 200
  ) {
    if (/without a finish reason/.test(thrown.message ?? ''))
      return failure('cut_off', asked, 'ended its answer without saying that it was finished');
    return failure('garbage', asked, `sent something that is no answer: ${words(thrown, asked)}`);
  }
  return fromWords(thrown, asked, 'unreachable');
}

/** How long the server asked us to wait. */
function retryAfterMs(headers: Record<string, string> | undefined, body: string, now: Date): number | undefined {
  const ms = Number(headers?.['retry-after-ms']);
  if (headers?.['retry-after-ms'] !== undefined && ms >= 0) return Math.ceil(ms);
  const said = headers?.['retry-after']?.trim();
  if (said !== undefined && said !== '') {
    if (/^\d+(\.\d+)?$/.test(said)) return Math.ceil(Number(said) * 1000);
    const date = Date.parse(said);
    if (!Number.isNaN(date)) return Math.max(0, date - now.getTime());
  }
  const google = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body);
  return google ? Math.ceil(Number(google[1]) * 1000) : undefined;
}

function fromStatus(status: number, thrown: Thrown, asked: Asked): ModelFailure {
  const body = thrown.responseBody ?? '';
  const said = words(thrown, asked);
  const wait = retryAfterMs(thrown.responseHeaders, body, asked.now);
  const byWords = classOfWords(`${body} ${allWords(thrown)}`);
  if (status === 402 || byWords === 'quota')
    return failure(
      'quota',
      asked,
      `says that nothing is left to spend: ${said}`,
      `top up the account behind ${asked.keyEnv ?? 'the key'}, or ${otherModel(asked)}`,
    );
  if (status === 429) return failure('rate', asked, `takes no more requests now: ${said}`, undefined, wait);
  if (status === 401 || (status === 403 && byWords !== 'refused')) {
    return failure(
      'auth',
      asked,
      `did not accept the key: ${said}`,
      `check ${asked.keyEnv ?? 'the key'} in the environment, or ${otherModel(asked)}`,
    );
  }
  if (status === 413 || byWords === 'context')
    return failure('context', asked, `says that the conversation is too long for ${asked.model}: ${said}`);
  if (status === 404 || byWords === 'unknown_model') {
    return failure(
      'unknown_model',
      asked,
      `has no model ${asked.model} at ${asked.address}: ${said}`,
      `check the name, or ${otherModel(asked)}`,
    );
  }
  if (status >= 500 || status === 408)
    return failure('unreachable', asked, `failed with status ${status}: ${said}`, undefined, wait);
  if (status < 400)
    return failure(
      'unreachable',
      asked,
      `redirects elsewhere (status ${status})`,
      `correct the base URL ${asked.address}`,
    );
  return failure('refused', asked, `refused the request with status ${status}: ${said}`);
}

/** An error that came as words only, as events inside a stream do. */
function fromWords(thrown: Thrown, asked: Asked, otherwise: ModelFailureClass): ModelFailure {
  const kind = classOfWords(allWords(thrown));
  return failure(kind ?? otherwise, asked, `reported an error: ${words(thrown, asked)}`);
}

function allWords({ type, code, status, message }: Thrown): string {
  return [type, code, status, message]
    .filter((one) => one !== undefined && one !== null)
    .map(String)
    .join(' ');
}

function classOfWords(text: string): ModelFailureClass | undefined {
  if (
    /insufficient_quota|credit balance is too low|billing_(hard_limit|not_active)|insufficient (credits|balance)|payment required/i.test(
      text,
    )
  )
    return 'quota';
  if (
    /context_length|maximum context|context window|prompt is too long|input token count.*exceeds|too many (input )?tokens|request_too_large|context size/i.test(
      text,
    )
  )
    return 'context';
  if (
    /content_filter|content_policy|content management policy|responsible ?ai|safety (system|filter)|flagged/i.test(text)
  )
    return 'refused';
  if (
    /model_not_found|not_found_error|model[^.]{0,80}(does not exist|not found|is not supported|unknown)|(unknown|no such|invalid) model/i.test(
      text,
    )
  )
    return 'unknown_model';
  if (/invalid_api_key|authentication_error|permission_error|unauthorized|api key not valid/i.test(text)) return 'auth';
  if (/rate_limit|rate limit|too many requests|RESOURCE_EXHAUSTED/i.test(text)) return 'rate';
  if (/overloaded|server_error|api_error|unavailable|internal/i.test(text)) return 'unreachable';
  return undefined;
}

export function failure(
  kind: ModelFailureClass,
  asked: Asked,
  what: string,
  next?: string,
  wait?: number,
): ModelFailure {
  const message = `${asked.provider} ${what}${next ? `; ${next}` : ''}`;
  return { class: kind, message, ...(wait === undefined ? {} : { retryAfterMs: wait }) };
}

export function otherModel(asked: Pick<Asked, 'agent'>): string {
  return `choose another model for agent ${asked.agent} in agents/${asked.agent}.md or guild.yaml`;
}

/** What the other side said, short, on one line, and without the key should it be echoed. */
function words(thrown: Thrown, asked: Asked): string {
  const inner = thrown.cause as Thrown | undefined;
  const said = messageInBody(thrown.responseBody) ?? thrown.message ?? inner?.message ?? 'no reason given';
  const hidden = asked.secret ? said.replaceAll(asked.secret, '[key]') : said;
  // oxlint-disable-next-line no-control-regex -- what a server says must not reach a terminal as commands
  const plain = hidden.replace(/[\u0000-\u001f\u007f-\u009f\s]+/g, ' ').trim();
  return plain.length > 300 ? `${plain.slice(0, 300)}…` : plain;
}

function messageInBody(body: string | undefined): string | undefined {
  if (!body) return undefined;
  try {
    const parsed = JSON.parse(body) as { error?: { message?: unknown } | string; message?: unknown };
    const said = typeof parsed.error === 'object' ? parsed.error?.message : (parsed.error ?? parsed.message);
    return typeof said === 'string' ? said : undefined;
  } catch {
    return /<html|<!doctype/i.test(body) ? 'an HTML page instead of JSON' : body;
  }
}

function networkWords(error: Thrown): string {
  const known: Record<string, string> = {
    ECONNREFUSED: 'nothing listens there',
    ENOTFOUND: 'no such host',
    EAI_AGAIN: 'the name cannot be looked up now',
    ECONNRESET: 'the connection was closed',
    ETIMEDOUT: 'no reply in time',
  };
  const code = String(error.code);
  return known[code] ? `${code}: ${known[code]}` : code;
}

/** The error itself or one of its causes, at most five deep, that fits. */
function find(error: Thrown, fits: (one: Thrown) => boolean): Thrown | undefined {
  let at: Thrown | undefined = error;
  for (let depth = 0; depth < 5 && typeof at === 'object' && at !== null; depth++) {
    if (fits(at)) return at;
    at = at.cause as Thrown | undefined;
  }
  return undefined;
}
