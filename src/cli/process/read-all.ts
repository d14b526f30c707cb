/** All text of a stream, such as standard input, without blank space around it. */
export async function readAll(stream: AsyncIterable<Buffer | string>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += chunk.toString();
  return text.trim();
}
