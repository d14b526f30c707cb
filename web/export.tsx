/** One run in one file: the page of a task and its conversations, with the data inside. */
import { render, type JSX } from 'preact';
import type { Exported } from '../src/web/base/contract.ts';
import { answerFrom, hello } from './api.ts';
import { Conversation } from './pages/conversation.tsx';
import { Task } from './pages/task.tsx';
import { listenToKeys } from './keys.ts';
import { go, place } from './router.ts';
import { setServerTime, visible } from './text.ts';

const exported = JSON.parse(document.getElementById('exported')!.textContent ?? 'null') as Exported;

function Shown(): JSX.Element {
  const { page, id } = place.value;
  return (
    <div class="alone">
      <header class="top">
        <a class="brand" href={`#/task/${encodeURIComponent(exported.task)}`}>
          {visible(exported.workspace)}
        </a>
        <span class="sp" />
        <span class="stat">
          Exported {new Date(exported.at).toLocaleString('en-GB')}. {exported.about}
        </span>
      </header>
      <main>
        {page === 'conversation' ? (
          <Conversation id={id} key={id} />
        ) : (
          <Task id={page === 'task' ? id : exported.task} key={id} />
        )}
      </main>
    </div>
  );
}

answerFrom(new Map(Object.entries(exported.answers)));
hello.value = exported.hello;
setServerTime(exported.at);
if (place.value.page === 'hall') go(`#/task/${encodeURIComponent(exported.task)}`);
const app = document.getElementById('app')!;
app.replaceChildren();
render(<Shown />, app);
listenToKeys();
