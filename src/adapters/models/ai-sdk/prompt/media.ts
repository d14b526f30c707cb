/**
 * Images and PDF documents of a conversation. A model that accepts a file gets it. Any other model
 * gets a note instead, so that it does not pretend to have seen the file.
 */
import type { Provider } from '../../../../domain/config/config.js';
import { acceptsMedia } from '../../../../domain/config/families.js';
import { sizeText, type FileRef } from '../../../../domain/file-ref.js';
import { foldMessages } from '../../../../domain/session/fold.js';
import type { ModelRequest } from '../../../../ports/model.js';
import type { ReadBlob } from './thoughts.js';

export interface Media {
  /** A file inside a result; otherwise it goes into a message after the results. */
  isInside: boolean;
  /** The bytes in base64, or the note for a model that does not get them. */
  show(file: FileRef): { data: string } | { note: string };
}

/** `isChat`: our own client for chat completions, which accepts images only. */
interface Receiver {
  kind: Provider['kind'];
  model: string;
  isChat: boolean;
}

type MediaOf = (request: Pick<ModelRequest, 'messages'>, receiver: Receiver) => Promise<Media | undefined>;

export function mediaReader(readBlob: ReadBlob | undefined): MediaOf {
  const filesOf = foldMessages(
    () => [] as FileRef[],
    (list, { files }) => {
      if (files !== undefined) list.push(...files);
    },
  );
  return async ({ messages }, receiver) => {
    const files = filesOf(messages);
    return files.length === 0 ? undefined : media(files, receiver, readBlob);
  };
}

async function media(
  files: readonly FileRef[],
  { kind, model, isChat }: Receiver,
  readBlob: ReadBlob | undefined,
): Promise<Media> {
  const accepts = ({ mediaType }: FileRef) =>
    (!isChat || mediaType.startsWith('image/')) && acceptsMedia(model, mediaType);
  const loaded = new Map<string, string>();
  for (const file of files.filter(accepts)) {
    const bytes = loaded.has(file.blob) ? undefined : await readBlob?.(file.blob);
    if (bytes) loaded.set(file.blob, Buffer.from(bytes).toString('base64'));
  }
  return {
    isInside: !isChat && INSIDE.has(kind),
    show(file) {
      const data = loaded.get(file.blob);
      if (data !== undefined) return { data };
      const what = `${file.name} (${file.mediaType}, ${sizeText(file.bytes)})`;
      return {
        note: accepts(file)
          ? `[${what} is not stored here any more.]`
          : `[${what} is attached, but you cannot see such files. Say so if you need what is in it.]`,
      };
    },
  };
}

/** Providers that accept files in the results of tools. */
const INSIDE: ReadonlySet<Provider['kind']> = new Set(['anthropic', 'google', 'vertex', 'bedrock', 'openai', 'azure']);
