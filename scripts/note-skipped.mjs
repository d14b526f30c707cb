/** A reporter for Node's test runner: one line for each test that was skipped or is marked as still to do. */
export default async function* noteSkipped(events) {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.skip !== undefined) yield line('skipped', data, data.skip);
    if (data.todo !== undefined) yield line('to do', data, data.todo);
  }
}

function line(word, data, reason) {
  return `  ${word}: ${data.name}${typeof reason === 'string' && reason !== '' ? ` (${reason})` : ''} in ${data.file ?? '?'}\n`;
}
