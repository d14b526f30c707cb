/** Parses server-sent events incrementally and passes on the data of each event. */
export function eventReader(onData: (data: string) => void): { push(text: string): void; end(): void } {
  let rest = '';
  let data: string[] = [];
  let hasStarted = false;

  function line(text: string): void {
    if (text === '') {
      if (data.length > 0) onData(data.join('\n'));
      data = [];
    } else if (text.startsWith('data:')) data.push(text.slice(text.charCodeAt(5) === 32 ? 6 : 5));
    else if (text === 'data') data.push('');
  }

  return {
    push(text) {
      rest += !hasStarted && text.startsWith('\uFEFF') ? text.slice(1) : text;
      hasStarted ||= text !== '';
      let from = 0;
      for (;;) {
        const at = lineEnd(rest, from);
        // A `\r` at the very end may be half of `\r\n`: wait for more.
        if (at === -1 || (rest[at] === '\r' && at === rest.length - 1)) break;
        line(rest.slice(from, at));
        from = at + (rest[at] === '\r' && rest[at + 1] === '\n' ? 2 : 1);
      }
      rest = rest.slice(from);
    },
    /** Some servers omit the last blank line. */
    end() {
      if (rest !== '') line(rest.replace(/\r$/, ''));
      line('');
      rest = '';
    },
  };
}

function lineEnd(text: string, from: number): number {
  const feed = text.indexOf('\n', from);
  const end = feed === -1 ? text.length : feed;
  const carriage = text.indexOf('\r', from);
  return carriage !== -1 && carriage < end ? carriage : feed;
}
