/**
 * Markdown of agents as nodes: tokens become elements of a fixed list, and HTML in it stays text.
 * Images become their text and address. Links show their whole address and open after a click.
 */
import { lexer, type Token, type Tokens } from 'marked';
import type { JSX } from 'preact';
import { visible } from './text.ts';

const MAX = 200_000;

export function Markdown({ text, links = true }: { text: string; links?: boolean }): JSX.Element {
  const shown = text.length > MAX ? `${text.slice(0, MAX)}\n\n…` : text;
  return <div class="md">{blocks(lexer(shown), links)}</div>;
}

function blocks(tokens: readonly Token[], links: boolean): JSX.Element[] {
  return tokens.flatMap((token, i) => block(token, links, i) ?? []);
}

function block(token: Token, links: boolean, key: number): JSX.Element | undefined {
  switch (token.type) {
    case 'space':
      return undefined;
    case 'heading':
      return (
        <p key={key} class="h">
          {inline((token as Tokens.Heading).tokens, links)}
        </p>
      );
    case 'code':
      return <pre key={key}>{visible((token as Tokens.Code).text)}</pre>;
    case 'blockquote':
      return <blockquote key={key}>{blocks((token as Tokens.Blockquote).tokens, links)}</blockquote>;
    case 'hr':
      return <hr key={key} />;
    case 'list':
      return list(token as Tokens.List, links, key);
    case 'table':
      return table(token as Tokens.Table, links, key);
    case 'paragraph':
    case 'text':
      return <p key={key}>{'tokens' in token && token.tokens ? inline(token.tokens, links) : visible(token.raw)}</p>;
    default:
      return <p key={key}>{visible(token.raw)}</p>;
  }
}

function list({ ordered, items }: Tokens.List, links: boolean, key: number): JSX.Element {
  const entries = items.map((item, i) => <li key={i}>{blocks(item.tokens, links)}</li>);
  return ordered ? <ol key={key}>{entries}</ol> : <ul key={key}>{entries}</ul>;
}

function table({ header, rows }: Tokens.Table, links: boolean, key: number): JSX.Element {
  const cells = (all: readonly Tokens.TableCell[], Cell: 'td' | 'th'): JSX.Element[] =>
    all.map((cell, i) => <Cell key={i}>{inline(cell.tokens, links)}</Cell>);
  return (
    <table key={key}>
      <thead>
        <tr>{cells(header, 'th')}</tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          <tr key={i}>{cells(row, 'td')}</tr>
        ))}
      </tbody>
    </table>
  );
}

function inline(tokens: readonly Token[], links: boolean): (JSX.Element | string)[] {
  return tokens.map((token, i) => {
    const inner = (): (JSX.Element | string)[] => inline('tokens' in token && token.tokens ? token.tokens : [], links);
    switch (token.type) {
      case 'strong':
        return <b key={i}>{inner()}</b>;
      case 'em':
        return <em key={i}>{inner()}</em>;
      case 'del':
        return <del key={i}>{inner()}</del>;
      case 'codespan':
        return <code key={i}>{visible((token as Tokens.Codespan).text)}</code>;
      case 'br':
        return <br key={i} />;
      case 'link':
        return link(token as Tokens.Link, links, i);
      case 'image':
        return visible(`[image: ${(token as Tokens.Image).text} ${(token as Tokens.Image).href}]`);
      case 'escape':
      case 'text':
        return 'tokens' in token && token.tokens ? (
          <span key={i}>{inner()}</span>
        ) : (
          visible((token as Tokens.Text).text)
        );
      default:
        return visible(token.raw);
    }
  });
}

/** Only http and https become links, and their address is shown. */
function link({ href, text }: Tokens.Link, links: boolean, key: number): JSX.Element | string {
  const label = text === href || text === '' ? '' : `${visible(text)} `;
  const safe = links && /^https?:\/\/[^\s]+$/i.test(href);
  if (!safe) return `${label}${visible(href)}`;
  return (
    <span key={key}>
      {label}
      <a class="link" href={href} target="_blank" rel="noopener noreferrer">
        {visible(href)}
      </a>
    </span>
  );
}
