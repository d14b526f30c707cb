/**
 * The reply of a server as text for a model. Images and PDF documents are passed on; others are
 * named.
 */

/** A tool's reply. */
export function replyText({ content = [], structuredContent, toolResult, isError = false }) {
  const media = content.flatMap((part) => mediaOf(part));
  const parts = content.map((part) => partText(part));
  if (parts.length === 0) parts.push(JSON.stringify(structuredContent ?? toolResult ?? 'done'));
  return { success: !isError, content: parts.join('\n'), ...(media.length > 0 ? { media } : {}) };
}

/** The contents of a resource. */
export function resourceText({ contents }) {
  const parts = contents.map((resource) => ({ type: 'resource', resource }));
  return replyText({ content: parts.length > 0 ? parts : [{ type: 'text', text: 'The resource is empty.' }] });
}

function partText(part) {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'resource': {
      const { uri, mimeType, text, blob } = part.resource;
      const head = `[resource ${uri}${mimeType ? `, ${mimeType}` : ''}]`;
      return text === undefined ? `${head} ${sizeOf(blob)}, not text` : `${head}\n${text}`;
    }
    case 'resource_link':
      return `[resource ${part.uri}: ${part.name}${part.description ? `, ${part.description}` : ''}]`;
    case 'image':
      return `[image, ${part.mimeType}, ${sizeOf(part.data)}]`;
    default:
      return `[${part.type}${part.mimeType ? `, ${part.mimeType}` : ''}, not shown]`;
  }
}

function mediaOf(part) {
  if (part.type === 'image') return [{ mediaType: part.mimeType, data: part.data }];
  const { blob, mimeType = '', uri = '' } = part.type === 'resource' ? part.resource : {};
  const isShown = blob !== undefined && /^(image\/|application\/pdf$)/.test(mimeType);
  return isShown ? [{ name: uri.split('/').at(-1), mediaType: mimeType, data: blob }] : [];
}

function sizeOf(base64 = '') {
  return `${Math.ceil((base64.length * 3) / 4 / 1024)} KB`;
}
