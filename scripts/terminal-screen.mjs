/**
 * A terminal that remembers: it takes what a program writes, moves of the cursor included, and
 * returns the lines that a person would see when scrolling back, with their colours.
 */
export function terminalScreen(columns) {
  const rows = [[]];
  let [row, column, style] = [0, 0, ''];
  let codes = new Set();

  return { write, lines };

  function write(text) {
    for (const part of text.split(
      /(\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b\[[?>=]?[\d;]*[A-Za-z]|\u001b[=>78])/,
    )) {
      const [, sequence, end] = /^\u001b\[([?>=]?[\d;]*)([A-Za-z])$/.exec(part) ?? [];
      if (end !== undefined) act(sequence, end);
      else if (!part.startsWith('\u001b')) for (const char of part) put(char);
    }
  }

  function put(char) {
    if (char === '\r') column = 0;
    else if (char === '\n') row++;
    else if (char === '\b') column = Math.max(0, column - 1);
    else if (char >= ' ') {
      if (column >= columns) [row, column] = [row + 1, 0];
      cells(row)[column++] = { char, style };
    }
    cells(row);
  }

  function cells(at) {
    while (rows.length <= at) rows.push([]);
    return rows[at];
  }

  function act(sequence, end) {
    const n = Number(sequence.split(';')[0] || 1);
    if (end === 'A') row = Math.max(0, row - n);
    else if (end === 'B') row += n;
    else if (end === 'C') column += n;
    else if (end === 'D') column = Math.max(0, column - n);
    else if (end === 'G') column = n - 1;
    else if (end === 'K') cells(row).length = Math.min(cells(row).length, column);
    else if (end === 'J') {
      cells(row).length = Math.min(cells(row).length, column);
      rows.length = row + 1;
    } else if (end === 'm') for (const code of (sequence || '0').split(';')) colour(Number(code));
    cells(row);
  }

  function colour(code) {
    if (code === 0) codes = new Set();
    else if (code === 22) codes = new Set([...codes].filter((each) => each > 2));
    else if (code === 39) codes = new Set([...codes].filter((each) => each < 30));
    else codes.add(code);
    style = [...codes].map((each) => `\u001b[${each}m`).join('');
  }

  function lines() {
    return rows.map((cellsOf) => {
      let [text, now] = ['', ''];
      for (let at = 0; at < cellsOf.length; at++) {
        const { char, style: wanted } = cellsOf[at] ?? { char: ' ', style: '' };
        if (wanted !== now) text += `\u001b[22m\u001b[39m${wanted}`;
        now = wanted;
        text += char;
      }
      return now === '' ? text.trimEnd() : `${text.trimEnd()}\u001b[22m\u001b[39m`;
    });
  }
}
