/**
 * Decides which earlier thoughts go back to a model. A provider accepts its own thoughts only if
 * everything before them is unchanged. So every kept thought has a chain of hashes over the system
 * text, the tools and the messages that were sent before it. A thought goes back if this request
 * has the same chain at that place; an edit, a fork, a shorter view or another tool breaks the
 * chain for all that follow. The files keep everything.
 */
import { createHash } from 'node:crypto';
import { foldMessages } from '../../../../domain/session/fold.js';
import type { Message, ProviderData } from '../../../../domain/session/session.js';
import type { ModelRequest } from '../../../../ports/model.js';
import { readParts, type AnswerPart } from './answer-parts.js';
import { memoize } from './memoize.js';

export type ReadBlob = (hash: string) => Promise<Uint8Array | undefined>;

export interface Thoughts {
  /** The parts of the answers that have thoughts to send. */
  readonly sent: ReadonlyMap<Message, readonly AnswerPart[]>;
  keep(parts: readonly AnswerPart[], answer: Pick<Message, 'content' | 'toolCalls'>): ProviderData;
  /** The provider refused them: they are not sent again. */
  reject(): void;
}

interface ThoughtBook {
  /** `model`: the name of the provider and the model. */
  of(request: ModelRequest, model: { provider: string; model: string }): Promise<Thoughts>;
}

/** Raise it when messages are sent in another form, so that old thoughts are left out. */
const VERSION = 'guildhall 1';
const MAX_REJECTED = 10_000;

export function thoughtBook(readBlob: ReadBlob = () => Promise.resolve(undefined)): ThoughtBook {
  const digest = memoize(digestOf);
  const withData = foldMessages(
    () => [] as Message[],
    (list, message) => {
      if (message.provider !== undefined) list.push(message);
    },
  );
  const read = new WeakMap<Message, Kept | null>();
  /** Chains of thoughts that their provider refused. */
  const rejected = new Set<string>();

  async function keptBy(message: Message): Promise<Kept | null> {
    let kept = read.get(message);
    if (kept === undefined) read.set(message, (kept = await readKept(message, readBlob)));
    return kept;
  }

  return {
    async of(request, model) {
      const isOwn = ({ provider }: Message) => provider?.name === model.provider && provider.model === model.model;
      const own = new Map<Message, Kept>();
      for (const message of withData(request.messages)) {
        const kept = isOwn(message) ? await keptBy(message) : null;
        if (kept && !rejected.has(kept.chain)) own.set(message, kept);
      }
      const sent = new Map<Message, readonly AnswerPart[]>();
      const start = () => sha256([VERSION, request.system, JSON.stringify(request.tools.map(toolOf))]);
      const walk = () =>
        request.messages.reduce((chain, message) => {
          const kept = own.get(message);
          const isValid = kept !== undefined && kept.chain === chain;
          if (isValid) sent.set(message, kept.parts);
          return sha256([chain, digest(message), isValid ? kept.message : '']);
        }, start());
      // Most models have no thoughts to send back, and then nothing needs to be hashed.
      let chain = own.size > 0 ? walk() : undefined;
      return {
        sent,
        keep(parts, answer) {
          const json = JSON.stringify(parts);
          return {
            name: model.provider,
            model: model.model,
            message: answerDigest(answer, json),
            chain: (chain ??= walk()),
            parts: json,
          };
        },
        reject() {
          if (rejected.size > MAX_REJECTED) rejected.clear();
          for (const message of sent.keys()) rejected.add(message.provider!.chain);
        },
      };
    },
  };
}

/** Thoughts whose message has not changed since. */
interface Kept {
  parts: AnswerPart[];
  chain: string;
  message: string;
}

async function readKept(message: Message, readBlob: ReadBlob): Promise<Kept | null> {
  const { parts: inline, blob, chain, message: digest } = message.provider!;
  const json = inline ?? (blob === undefined ? undefined : text(await readBlob(blob)));
  if (json === undefined || answerDigest(message, json) !== digest) return null;
  const parts = readParts(json);
  return parts === undefined ? null : { parts, chain, message: digest };
}

function text(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8');
}

/** Ids are not included: a call gets its id only after its answer. */
function answerDigest({ content, toolCalls = [] }: Pick<Message, 'content' | 'toolCalls'>, parts: string): string {
  return sha256([content, JSON.stringify(toolCalls.map((call) => [call.name, call.arguments])), parts]);
}

/** A digest of the parts of a message that a model gets, without thoughts. */
function digestOf(message: Message): string {
  const files = (message.files ?? []).map(({ name, mediaType, blob }) => [name, mediaType, blob]);
  return files.length === 0 ? digestOfText(message) : sha256([digestOfText(message), JSON.stringify(files)]);
}

function digestOfText({
  role,
  content,
  toolCalls = [],
  toolCallId = '',
  isError = false,
  from = '',
  name = '',
}: Message): string {
  const calls = toolCalls.map((call) => [call.id, call.name, call.arguments]);
  // Only these roles are sent with a name.
  const sender = role === 'system' ? from : role === 'tool' ? name : '';
  return sha256([role, content, JSON.stringify(calls), toolCallId, String(isError), sender]);
}

function toolOf({ name, description, parameters }: ModelRequest['tools'][number]): unknown[] {
  return [name, description, parameters];
}

function sha256(texts: readonly string[]): string {
  const hash = createHash('sha256');
  // Lengths keep the boundaries between the texts.
  for (const each of texts) hash.update(`${each.length}:`).update(each);
  return hash.digest('hex');
}
