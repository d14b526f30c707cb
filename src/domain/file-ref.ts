/** Files that a message hands to the model: images and PDF documents. */

/** Its bytes are in a blob. */
export interface FileRef {
  name: string;
  mediaType: string;
  blob: string;
  bytes: number;
}

/** The media type by the first bytes; a name proves nothing. */
export function mediaTypeOf(bytes: Uint8Array): string | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, 12));
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(head)) return 'image/gif';
  if (/^RIFF[^]{4}WEBP/.test(head)) return 'image/webp';
  return head.startsWith('%PDF-') ? 'application/pdf' : undefined;
}

/** A list from a record or a conversation, without damaged entries. */
export function readFileRefs(value: unknown): FileRef[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: unknown) => {
    if (typeof each !== 'object' || each === null) return [];
    const { name, mediaType, media_type: type = mediaType, blob, bytes } = each as Record<string, unknown>;
    if (typeof name !== 'string' || typeof type !== 'string' || typeof blob !== 'string') return [];
    return typeof bytes === 'number' ? [{ name, mediaType: type, blob, bytes }] : [];
  });
}

/** `34 kB`. */
export function sizeText(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
