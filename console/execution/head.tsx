/**
 * The head of an execution's page: its workflow and id, its status and since when; below, its effects in
 * place and the people who acted on it.
 */

import type { ComponentChildren, JSX } from 'preact';
import {
  callerText,
  type ExecutionView,
  questionsText,
  riskText,
  type Standing,
  timeText,
} from '../../lib/api/answers.ts';
import { leftAfterPause, underWayText } from '../../lib/view/deployment.ts';
import { actedFacts } from '../../lib/view/waiting-steps.ts';
import { Id, ShortId } from '../parts/copy.tsx';
import { ExecutionStatusOf } from '../parts/status.tsx';
import { Ago, Clock, clockText, Lasted, Prose, Until } from '../parts/time.tsx';
import { addressOf } from '../router.ts';

const Fact = ({ name, children }: { name: string; children: ComponentChildren }): JSX.Element => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

export const executionLink = (id: string, step?: string): string => addressOf(['executions', id], { step });

export function Head({ view }: { view: ExecutionView }): JSX.Element {
  const { executionId, workflow, status, cause, end, riskSince } = view;
  return (
    <header class="head">
      <p class="path">
        <a href={addressOf(['workflows', workflow])}>{workflow}</a>
      </p>
      <h1>
        <ExecutionStatusOf status={status} asked={view.asked} />
        <Id id={executionId} what="the execution's id" />
        {riskSince === undefined || view.endedAt !== undefined ? null : (
          <strong class="risk">
            ! at risk since {clockText(riskSince)}
            {view.risk === undefined ? '' : `: ${riskText(view.risk)}`}
          </strong>
        )}
      </h1>
      <dl class="facts across">
        <Times view={view} />
        <Origin view={view} />
      </dl>
      {view.asked === undefined ? null : (
        <p class="notice warn">
          <span>
            It waits for people: {questionsText(view.asked)},{' '}
            {view.asked.count === 1 ? 'which expires ' : 'the first expires '}
            <Until at={view.asked.next.deadlineAt} />.{' '}
            <a href={executionLink(view.asked.next.executionId)}>Answer in the execution that asks</a>, or see{' '}
            <a href={addressOf(['people'])}>all that waits for people</a>.
          </span>
        </p>
      )}
      {end === undefined ? null : (
        <p class="notice">
          It has ended: <ExecutionStatusOf status={end.status} /> <Clock at={end.at} />. Its on-failure steps
          are under way.
        </p>
      )}
      {cause === undefined ? null : (
        <p class="notice bad">
          <strong>{CAUSE[cause.kind]}</strong>
          {cause.step === undefined ? null : (
            <>
              {' at '}
              <a href={executionLink(executionId, cause.step)}>{cause.step}</a>
            </>
          )}
          {': '}
          <code>{cause.failure.code}</code> <Prose text={cause.failure.message} /> · <Clock at={cause.at} />
          {cause.by === undefined ? null : <> · by {callerText(cause.by)}</>}
          {cause.undo === false ? ' · nothing is undone' : null}
        </p>
      )}
    </header>
  );
}

const CAUSE = {
  failure: 'It failed',
  cancel: 'It was canceled',
  deadline: 'Its deadline passed',
  parent: 'Its parent stopped it',
} as const;

const Times = ({ view }: { view: ExecutionView }): JSX.Element => {
  const { startedAt, startedBy, endedAt, deadlineAt, wakeAt } = view;
  return (
    <>
      <Fact name="Started">
        <Clock at={startedAt} /> (<Ago at={startedAt} />)
        {startedBy === undefined ? null : <> by {callerText(startedBy)}</>}
      </Fact>
      {endedAt === undefined ? (
        <Fact name="Deadline">
          {leftAfterPause(view) ?? (
            <>
              <Clock at={deadlineAt} /> (<Until at={deadlineAt} />)
            </>
          )}
        </Fact>
      ) : (
        <Fact name="Ended">
          <Clock at={endedAt} />
        </Fact>
      )}
      <Fact name={endedAt === undefined ? 'Running for' : 'Took'}>
        <Lasted from={startedAt} to={endedAt} />
      </Fact>
      {wakeAt === undefined || endedAt !== undefined ? null : (
        <Fact name="Next evaluation">
          <Until at={wakeAt} />
        </Fact>
      )}
    </>
  );
};

const Origin = ({ view: { tags = {}, parent, replaces, plan } }: { view: ExecutionView }): JSX.Element => (
  <>
    {parent === undefined ? null : (
      <Fact name="Part of">
        <a href={executionLink(parent.executionId, parent.step)}>{parent.step}</a> of{' '}
        <ShortId id={parent.executionId} />
      </Fact>
    )}
    {replaces === undefined ? null : (
      <Fact name="Replaces">
        <a href={executionLink(replaces)}>
          <ShortId id={replaces} />
        </a>
      </Fact>
    )}
    {Object.entries(tags).map(([name, value]) => (
      <Fact key={name} name={name}>
        {value}
      </Fact>
    ))}
    <Fact name="Plan">
      <code title={plan}>{plan.slice(0, 8)}</code>
    </Fact>
  </>
);

/** The effects in place. After a success the API lists only effects left behind by steps with `mayFail`. */
export function Stands({ standing }: { standing: Standing | undefined }): JSX.Element | null {
  if (standing === undefined) return null;
  const { stands, mayStand, first } = standing;
  return (
    <section aria-labelledby="stands">
      <h2 id="stands">What is still in effect</h2>
      <p>
        {stands === 0 && mayStand === 0
          ? 'Nothing that would have to be undone.'
          : `${stands} in effect${mayStand === 0 ? '' : `, ${mayStand} possibly in effect`}.`}
      </p>
      <ul class="plain">
        {first.map(({ step, effect, executionId }) => (
          <li key={`${step} ${executionId ?? ''}`}>
            {executionId === undefined ? (
              <strong>{step}</strong>
            ) : (
              <a href={executionLink(executionId)}>{step}</a>
            )}{' '}
            {effect === 'stands' ? 'stands' : 'possibly in effect: the outcome is not known'}
          </li>
        ))}
      </ul>
      {first.length < stands + mayStand ? <p class="faint">These are the first {first.length}.</p> : null}
    </section>
  );
}

export function Operated({ view }: { view: ExecutionView }): JSX.Element | null {
  const facts = [
    ...(view.pauses ?? []).map(
      (pause) =>
        [
          `paused`,
          `${timeText(pause.at)}${pause.by === undefined ? '' : ` by ${callerText(pause.by)}`}: ${pause.reason}${view.status === 'paused' && pause.endedAt === undefined ? `; ${underWayText(pause)}` : ''}`,
        ] as const,
    ),
    ...actedFacts(view),
  ];
  if (facts.length === 0) return null;
  return (
    <section aria-labelledby="operated">
      <h2 id="operated">By people</h2>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <Fact key={`${name} ${value}`} name={name}>
            <Prose text={value} />
          </Fact>
        ))}
      </dl>
    </section>
  );
}
