/** Server-sent events, piece by piece: calls back with the data of each event. Only `data` matters to us. */
export function eventReader(onData: (data: string) => void): { push(text: string): void; end(): void } {
  let rest = '';
  let data: string[] = [];
  let begun = false;

  function line(text: string): void {
    if (text === '') {
      if (data.length > 0) onData(data.join('\n'));
      data = [];
    } else if (text.startsWith('data:')) data.push(text.slice(text.charCodeAt(5) === 32 ? 6 : 5));
    else if (text === 'data') data.push('');
  }

  return {
    push(text) {
      rest += !begun && text.startsWith('\uFEFF') ? text.slice(1) : text;
      begun ||= text !== '';
      let from = 0;
      for (;;) {
        const at = lineEnd(rest, from);
        // A `\r` at the very end may be half of `\r\n`: wait for what comes.
        if (at === -1 || (rest[at] === '\r' && at === rest.length - 1)) break;
        line(rest.slice(from, at));
        from = at + (rest[at] === '\r' && rest[at + 1] === '\n' ? 2 : 1);
      }
      rest = rest.slice(from);
    },
    /** Some servers leave out the last blank line. */
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
