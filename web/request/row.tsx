/** A request in a list: what it would do, with buttons to answer it or a link to its own page. */
import type { JSX } from 'preact';
import type { Request } from '../../src/web/base/contract.ts';
import { Icon } from '../icons.tsx';
import { Taint } from '../parts.tsx';
import { address } from '../router.ts';
import { ago, visible } from '../text.ts';
import { Heading, requestIcon, sizeOf } from './heading.tsx';
import { Choices } from './question.tsx';

export function RequestRow({ request }: { request: Request }): JSX.Element {
  return (
    <div class="row ask">
      <span class="s-you ic">
        <Icon name={requestIcon(request)} />
      </span>
      <a class="main" href={address('inbox', request.id)}>
        <span class="t one">
          <Heading request={request} />
        </span>
        <span class="m">
          <b>{visible(request.agent)}</b>
          {request.task !== undefined && <span class="one">{visible(request.task.title)}</span>}
          <span class="nb">{[sizeOf(request), ago(request.createdAt)].filter(Boolean).join(' · ')}</span>
          <Taint sources={request.taint} />
        </span>
      </a>
      {request.question?.choices === undefined ? (
        <a class="btn sm" href={address('inbox', request.id)}>
          {request.question === undefined ? 'Review' : 'Answer'}
        </a>
      ) : (
        <Choices request={request} />
      )}
    </div>
  );
}
