/**
 * Shows the explanation: what comes next and when, the reason for each step's state, what happened, and the
 * evidence.
 *
 * Owns: the order of the parts. Does not own: the words (`lib/core/explain`).
 */

import type { JSX } from 'preact';
import type { ExecutionView, Json, Reasons } from '../../lib/api/answers.ts';
import { stateText } from '../../lib/view/waiting-steps.ts';
import { StepStatusOf } from '../parts/status.tsx';
import { Clock, Prose, Until } from '../parts/time.tsx';

type Next = Reasons['next'];

const WHO: Readonly<Record<NonNullable<Next['who']>, string>> = {
  agent: 'an agent',
  person: 'a person',
  'external-party': 'an external party',
  child: 'a child execution',
  supervisor: 'a supervisor',
};

interface WhyProps {
  readonly view: ExecutionView;
  readonly reasons: Reasons;
  readonly hrefOf: (step: string) => string;
}

export const Why = ({ view, reasons, hrefOf }: WhyProps): JSX.Element => (
  <section class="why" aria-labelledby="why">
    <h2 id="why">Why</h2>
    {reasons.warnings.map((warning) => (
      <p key={warning} class="notice warn" role="alert">
        <Prose text={warning} />
      </p>
    ))}
    <div class="next">
      <h3>What happens next</h3>
      <p class="what">
        <Prose text={reasons.next.what} />
      </p>
      <p class="faint">
        <NextFacts next={reasons.next} />
      </p>
    </div>
    <Steps view={view} reasons={reasons} hrefOf={hrefOf} />
    <Past reasons={reasons} />
  </section>
);

const NextFacts = ({ next }: { next: Next }): JSX.Element => (
  <>
    {next.at === undefined ? null : (
      <>
        <Until at={next.at} /> · <Clock at={next.at} />
      </>
    )}
    {next.who === undefined ? null : `${next.at === undefined ? '' : ' · '}by ${WHO[next.who]}`}
    {next.step === undefined ? null : ` · step ${next.step}`}
  </>
);

const OVER: ReadonlySet<string> = new Set(['done', 'skipped', 'compensated']);

function Steps({ view, reasons, hrefOf }: WhyProps): JSX.Element | null {
  const open = reasons.steps
    .filter(({ status }) => !OVER.has(status))
    .map((step) => ({ ...step, told: toldOf(step, view) }));
  const now = open.filter(({ status }) => status !== 'pending');
  const later = open.filter(({ status }) => status === 'pending');
  const words = later.every(({ told }) => told === 'not reached') ? 'not reached' : 'not begun';
  if (open.length === 0) return null;
  return (
    <>
      <h3>Steps that are not done</h3>
      <StepList steps={now} hrefOf={hrefOf} />
      {later.length === 0 ? null : (
        <details>
          <summary class="faint">
            {later.length} {words}: {later.map(({ name }) => name).join(', ')}
          </summary>
          <StepList steps={later} hrefOf={hrefOf} />
        </details>
      )}
    </>
  );
}

/** The step's state in the words that the graph and the timeline use. */
function toldOf({ name, status }: Reasons['steps'][number], view: ExecutionView): string {
  const step = view.steps.find((one) => one.name === name);
  return step?.status === status ? stateText(step, view) : status;
}

interface ToldStep extends Readonly<Reasons['steps'][number]> {
  readonly told: string;
}

const StepList = ({
  steps,
  hrefOf,
}: {
  steps: readonly ToldStep[];
  hrefOf: (step: string) => string;
}): JSX.Element => (
  <ul class="because">
    {steps.map(({ name, status, told, because, next }) => (
      <li key={name}>
        <p>
          <a href={hrefOf(name)}>{name}</a> <StepStatusOf status={status} told={told} />
        </p>
        <p>
          <Prose text={because} />
        </p>
        {next.what === 'nothing' ? null : (
          <p class="faint">
            then: <Prose text={next.what} />
            {next.at === undefined ? null : (
              <>
                {' '}
                (<Until at={next.at} />)
              </>
            )}
          </p>
        )}
      </li>
    ))}
  </ul>
);

function Past({ reasons }: { reasons: Reasons }): JSX.Element {
  const { omittedPast = 0, past } = reasons;
  return (
    <>
      <h3>What happened, latest first</h3>
      <ol class="past">
        {past.toReversed().map((one, index) => (
          <li key={past.length - index}>
            <Clock at={one.at} />
            <details>
              <summary>
                {one.step === undefined ? null : <strong>{one.step}: </strong>}
                <Prose text={one.what} />
              </summary>
              <Evidence evidence={one.evidence} />
            </details>
          </li>
        ))}
      </ol>
      {omittedPast === 0 ? null : <p class="faint">{omittedPast} older entries are left out.</p>}
    </>
  );
}

const AN_INSTANT = /(?:At|Until)$/;

const Evidence = ({ evidence }: { evidence: Readonly<Record<string, unknown>> }): JSX.Element =>
  Object.keys(evidence).length === 0 ? (
    <p class="faint">The execution’s record.</p>
  ) : (
    <dl class="facts">
      {Object.entries(evidence).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {AN_INSTANT.test(name) && typeof value === 'number' ? (
              <Clock at={value} />
            ) : typeof value === 'string' ? (
              value
            ) : (
              JSON.stringify(value as Json)
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
