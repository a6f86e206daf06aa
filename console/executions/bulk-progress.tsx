/**
 * The page of a bulk action: its progress, and the reasons of refusals. It has its own address, also after
 * the action.
 */

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { callerText, countText } from '../../lib/api/answers.ts';
import type { BulkProgress as Progress, BulkView } from '../../lib/api/bulk-answers.ts';
import { api } from '../api.ts';
import { executionLink } from '../execution/head.tsx';
import { useLive } from '../live.ts';
import { ShortId } from '../parts/copy.tsx';
import { Shown } from '../parts/states.tsx';
import { Prose } from '../parts/time.tsx';
import { refine } from '../router.ts';

/** The interval of reads: short, because a person is waiting. */
const EVERY_MS = 3_000;

const isOver = ({ status }: BulkView): boolean => status === 'done' || status === 'stopped';

export function BulkProgress({ id, done }: { id: string; done: () => void }): JSX.Element {
  const live = useLive(`bulk ${id}`, () => api.bulk(id), { isOver, lastMs: EVERY_MS });
  const isDone = live.data !== undefined && isOver(live.data);
  // Reads the list again, because the action changes its executions.
  useEffect(() => {
    if (isDone) done();
  }, [isDone]);
  return (
    <section class="card bulk-progress" aria-label="The bulk action">
      <Shown live={live} what="its progress">
        {(view) => <Told view={view} />}
      </Shown>
      <button type="button" class="quiet" onClick={() => refine({ bulk: undefined })}>
        close
      </button>
    </section>
  );
}

const WORDS: Readonly<Record<BulkView['status'], string>> = {
  collecting: 'is not confirmed',
  collected: 'is not confirmed',
  acting: 'is under way',
  done: 'is done',
  stopped: 'was stopped',
};

function Told({ view }: { view: BulkView }): JSX.Element {
  const { action, status, count, progress, executionId, confirmedBy, reason } = view;
  const { acted, applied, refused } = progress ?? { acted: 0, applied: 0, refused: [] };
  return (
    <>
      <p role="status">
        <strong>
          {action} {WORDS[status]}
        </strong>
        : {countText(acted)} of {countText(count)} processed, {countText(applied)} applied.
        {confirmedBy === undefined ? '' : ` By ${callerText(confirmedBy)}.`}
        {reason === undefined ? '' : ` ${reason}`}
      </p>
      <progress max={count} value={acted} aria-label="processed" />
      {refused.map((one) => (
        <Refused key={one.code} refused={one} />
      ))}
      {executionId === undefined ? null : (
        <p class="faint">
          <a href={executionLink(executionId)}>The execution of this bulk action</a> can be paused, resumed
          and canceled.
        </p>
      )}
    </>
  );
}

const Refused = ({
  refused: { code, count, examples },
}: {
  refused: Progress['refused'][number];
}): JSX.Element => (
  <details>
    <summary>
      {countText(count)} not: <code>{code}</code>
    </summary>
    <ul class="plain">
      {examples.map(({ executionId, message }) => (
        <li key={executionId}>
          <a href={executionLink(executionId)}>
            <ShortId id={executionId} />
          </a>{' '}
          <Prose text={message} />
        </li>
      ))}
    </ul>
  </details>
);
