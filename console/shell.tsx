/**
 * The frame of the page: the deployment's name, the links to the views, and the current view.
 *
 * Owns: which view each place has, and the keys that open views. Does not own: the views.
 */

import type { JSX } from 'preact';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import { settings } from './api.ts';
import { now } from './clock.ts';
import { ExecutionsPage } from './executions/executions-page.tsx';
import { ExecutionPage } from './execution/execution-page.tsx';
import { failing, unansweredSince } from './live.ts';
import { OverviewPage } from './overview/overview-page.tsx';
import { AsField } from './parts/as-field.tsx';
import { isNarrow } from './parts/room.ts';
import { Empty, Problem } from './parts/states.tsx';
import { clockText } from './parts/time.tsx';
import { PeoplePage } from './people/people-page.tsx';
import { addressOf, go, place } from './router.ts';
import { WorkflowPage } from './workflows/workflow-page.tsx';
import { WorkflowsPage } from './workflows/workflows-page.tsx';

interface ViewOf {
  readonly name: string;
  readonly label: string;
  /** The letter to press after 'g'. */
  readonly key: string;
}

const VIEWS: readonly ViewOf[] = [
  { name: 'overview', label: 'Overview', key: 'o' },
  { name: 'executions', label: 'Executions', key: 'e' },
  { name: 'people', label: 'People', key: 'p' },
  { name: 'workflows', label: 'Workflows', key: 'w' },
];

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null;

/** Opens a view by 'g' and the view's letter. */
function useKeys(): void {
  useEffect(() => {
    let before = '';
    const pressed = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const view = before === 'g' ? VIEWS.find(({ key }) => key === event.key) : undefined;
      before = event.key;
      if (view === undefined) return;
      event.preventDefault();
      go([view.name]);
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}

/** The view of the place; for an unknown place, links. */
function View(): JSX.Element {
  const { path } = place.value;
  const [view = 'overview', name] = path;
  switch (view) {
    case 'overview':
      return <OverviewPage />;
    case 'executions':
      return name === undefined ? <ExecutionsPage /> : <ExecutionPage key={name} id={name} />;
    case 'people':
      return <PeoplePage />;
    case 'workflows':
      return name === undefined ? <WorkflowsPage /> : <WorkflowPage key={name} name={name} />;
    default:
      return <Nowhere />;
  }
}

const Nowhere = (): JSX.Element => (
  <>
    <h1 class="hidden">No such page</h1>
    <Empty title="There is no such page">Choose a view above.</Empty>
  </>
);

/** The view in an error boundary, so that a view that throws leaves the frame intact. */
function Guarded(): JSX.Element {
  const [broken, reset] = useErrorBoundary();
  const { path } = place.value;
  useEffect(() => {
    if (broken !== undefined) reset();
  }, [path.join('/')]);
  return broken === undefined ? <View /> : <Problem error={broken} again={reset} />;
}

/** The time without an answer after which the page warns that it may be out of date. */
const LATE_MS = 5_000;

/** The warning that requests of the page have had no answer since then. */
const noAnswer = (since: number | undefined): string =>
  since === undefined || isNarrow.value ? '… no answer yet' : `… no answer since ${clockText(since)}`;

function Connection(): JSX.Element {
  const since = unansweredSince.value;
  const isLate = since !== undefined && now.value - since > LATE_MS;
  const isLive = failing.value === 0 && !isLate;
  return (
    <span class={isLive ? 'connection' : 'connection bad'} role="status">
      {isLive ? '● live' : failing.value > 0 ? '✕ not connected' : noAnswer(since)}
    </span>
  );
}

function Navigation(): JSX.Element {
  const [view = VIEWS[0]?.name] = place.value.path;
  return (
    <nav aria-label="Views">
      {VIEWS.map(({ name, label, key }) => (
        <a
          key={name}
          href={addressOf([name])}
          title={`press g, then ${key}`}
          aria-current={view === name ? 'page' : undefined}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}

export function Shell(): JSX.Element {
  useKeys();
  const { deployment, readOnly, local } = settings;
  return (
    <>
      <a class="skip" href="#main" onClick={toMain}>
        To the content
      </a>
      <header class="shell">
        <a class="brand" href={addressOf([])}>
          Steadfast
        </a>
        <span class="deployment" title={local ? 'on this machine' : 'on AWS'}>
          {deployment}
        </span>
        {readOnly ? <span class="readonly">read only</span> : null}
        <Navigation />
        {local && !readOnly ? <AsField label="as" /> : null}
        <Connection />
      </header>
      <main id="main" tabIndex={-1}>
        <Guarded />
      </main>
    </>
  );
}

/** Moves the focus to the content. An anchor link cannot, because the address after `#` is the place. */
function toMain(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
