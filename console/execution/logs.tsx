/**
 * The log lines of an execution, in the order of time. They are read when somebody asks: on AWS a query costs what it reads.
 *
 * Owns: how they are asked for and shown. Does not own: where they are (`lib/cli/console/logs.ts`).
 */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { LEVELS } from '../../lib/cli/logs/line.ts';
import { type LogLine, type LogLines, logLines, settings } from '../api.ts';
import { ChoiceField, TickField } from '../parts/fields.tsx';
import { Loading, Problem } from '../parts/states.tsx';
import { clockText } from '../parts/time.tsx';

const OPTIONS = LEVELS.map(
  (level) => [level, level === 'trace' ? 'all levels' : `${level} and above`] as const,
);

export function Logs({ id }: { id: string }): JSX.Element {
  const level = useSignal('trace');
  const children = useSignal(false);
  const found = useSignal<LogLines | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);
  const read = async (): Promise<void> => {
    if (isBusy.value) return;
    isBusy.value = true;
    error.value = undefined;
    try {
      found.value = await logLines(id, level.value, children.value);
    } catch (refused) {
      error.value = refused;
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <section aria-labelledby="logs">
      <h2 id="logs">Log lines</h2>
      {settings.hasLogs ? (
        <form
          class="buttons"
          aria-label="Log lines"
          onSubmit={(event) => {
            event.preventDefault();
            void read();
          }}
        >
          <button type="submit" disabled={isBusy.value}>
            {found.value === undefined ? 'Read its log lines' : 'Read them again'}
          </button>
          <ChoiceField label="Level" text={level} options={OPTIONS} />
          <TickField ticked={children} label="also of executions below it" />
        </form>
      ) : null}
      {isBusy.value && found.value === undefined ? <Loading what="its log lines" /> : null}
      {error.value === undefined ? null : <Problem error={error.value} again={() => void read()} />}
      {found.value === undefined ? null : <Lines found={found.value} id={id} />}
      <p class="faint">
        {settings.local ? '' : 'CloudWatch Logs charges for what a query reads. '}On the command line:{' '}
        <code>npx steadfast logs {id}</code>
      </p>
    </section>
  );
}

const Lines = ({
  found: { lines, isCut, scannedBytes },
  id,
}: {
  found: LogLines;
  id: string;
}): JSX.Element => (
  <>
    {lines.length === 0 ? (
      <p class="faint">
        None: what a healthy step does is logged at level DEBUG alone, which a deployment switches on.
      </p>
    ) : (
      <div class="scroll logs" tabIndex={0} role="group" aria-label="Log lines, in the order of time">
        <ol>
          {lines.map((line, at) => (
            <li key={at} class={TONE[line.level] ?? ''}>
              <Line line={line} id={id} />
            </li>
          ))}
        </ol>
      </div>
    )}
    <p class="faint">
      {isCut ? `These are the latest ${lines.length}. ` : ''}
      {scannedBytes === undefined ? '' : `CloudWatch Logs has read ${(scannedBytes / 1e6).toFixed(1)} MB.`}
    </p>
  </>
);

const TONE: Readonly<Record<string, string>> = { WARN: 'warn', ERROR: 'bad', CRITICAL: 'bad' };

function Line({ line, id }: { line: LogLine; id: string }): JSX.Element {
  const { at, level, executionId, who, step, attempt, message, rest } = line;
  const place = [executionId.slice(id.length), step, attempt === '' ? '' : `#${attempt}`];
  return (
    <>
      <time dateTime={new Date(at).toISOString()}>{clockText(at)}</time> <strong>{level}</strong> {who}{' '}
      {place.filter(Boolean).join(' ')} <span>{message}</span> <span class="faint">{rest}</span>
    </>
  );
}
