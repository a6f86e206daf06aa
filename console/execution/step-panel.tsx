/**
 * Shows one step of an execution: its attempts and their inputs, its output or failure, its child executions,
 * and the forms to answer it.
 */

import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import {
  type AttemptView,
  callerText,
  type ExecutionView,
  type Reasons,
  type AcceptedView,
  type StepView,
} from '../../lib/api/answers.ts';
import { childrenNote, endsText, leftOutText, stateText } from '../../lib/view/waiting-steps.ts';
import { api, settings } from '../api.ts';
import { ShortId } from '../parts/copy.tsx';
import { Payload } from '../parts/payload.tsx';
import { Problem } from '../parts/states.tsx';
import { Status, StepStatusOf } from '../parts/status.tsx';
import { Clock, Lasted, Prose, Until } from '../parts/time.tsx';
import { AnswerCallback } from '../people/answer-callback.tsx';
import { SendMessage } from '../people/send-message.tsx';
import { executionLink } from './head.tsx';

interface PanelProps {
  readonly step: StepView;
  readonly view: ExecutionView;
  readonly reasons: Reasons;
  /** The address at which the graph shows one of the step's executions. */
  readonly placeOf: (executionId: string) => string;
  readonly done: () => void;
}

export function StepPanel({ step: brief, view, reasons, placeOf, done }: PanelProps): JSX.Element {
  const whole = useSignal<StepView | undefined>(undefined);
  const step = whole.value ?? brief;
  const reason = reasons.steps.find(({ name }) => name === step.name);
  return (
    <section class="step" aria-labelledby="step">
      <h2 id="step">
        Step {step.name} <StepStatusOf status={step.status} told={stateText(step, view)} />
      </h2>
      {reason === undefined ? null : (
        <p>
          <Prose text={reason.because} />
        </p>
      )}
      {step.mayHaveActed === true && step.wrongAnswer === undefined ? (
        <p class="notice warn">An attempt with an unknown outcome may have acted.</p>
      ) : null}
      {step.failure === undefined ? null : (
        <p class="notice bad">
          <code>{step.failure.code}</code> <Prose text={step.failure.message} />
        </p>
      )}
      <StepFacts step={step} />
      {step.omitted === undefined ? null : (
        <Whole id={view.executionId} step={step} take={(one) => (whole.value = one)} />
      )}
      {step.question === undefined || settings.readOnly ? null : (
        <AnswerCallback executionId={view.executionId} question={step.question} done={done} />
      )}
      {step.message === undefined || !isAwaited(step, view) || settings.readOnly ? null : (
        <SendMessage
          executionId={view.executionId}
          step={step.name}
          message={step.message.next ?? step.message.name}
          done={done}
        />
      )}
      <Children step={step} placeOf={placeOf} />
      <Attempts step={step} />
      {step.output === undefined ? null : <Payload what={`Output of ${step.name}`} value={step.output} />}
    </section>
  );
}

/** Whether the step, or its next round, may still take a message. */
const isAwaited = ({ kind, status }: StepView, { endedAt }: ExecutionView): boolean =>
  endedAt === undefined &&
  (status === 'ready' || status === 'pending' || (kind === 'child' && status === 'running'));

function Whole({
  id,
  step,
  take,
}: {
  id: string;
  step: StepView;
  take: (step: StepView) => void;
}): JSX.Element {
  const error = useSignal<unknown>(undefined);
  const load = async (): Promise<void> => {
    try {
      const { steps } = await api.get(id, { step: step.name });
      if (steps[0] !== undefined) take(steps[0]);
    } catch (refused) {
      error.value = refused;
    }
  };
  return (
    <>
      <p class="notice">
        Left out, because the answer would be too large: {step.omitted?.join(', ')}.{' '}
        <button type="button" onClick={() => void load()}>
          Read this whole step
        </button>
      </p>
      {error.value === undefined ? null : <Problem error={error.value} />}
    </>
  );
}

const AcceptedFacts = ({ accepted }: { accepted: AcceptedView }): JSX.Element => (
  <>
    <Fact name="Accepted" value={<Clock at={accepted.at} />} />
    <Fact name="Accepted as" value={accepted.token} />
    <Fact name="Acts until" value={<Until at={accepted.untilAt} />} />
    <Fact name="Progress of the service" value={accepted.progress} />
  </>
);

const StepFacts = ({ step }: { step: StepView }): JSX.Element => (
  <dl class="facts across">
    <Fact name="Kind" value={step.kind} />
    <Fact name="Agent" value={step.agent} />
    <Fact name="Comes after" value={step.after.join(', ')} />
    <Fact name="Progress" value={step.progress} />
    <Fact name="Message" value={step.message?.name} />
    <Fact name="Message taken" value={step.message?.id} />
    <Fact name="Answered by" value={step.by === undefined ? undefined : callerText(step.by)} />
    <Fact
      name="Lease ends"
      value={step.leaseUntil === undefined ? undefined : <Until at={step.leaseUntil} />}
    />
    {step.accepted === undefined ? null : <AcceptedFacts accepted={step.accepted} />}
    <Fact
      name={step.status === 'accepted' ? 'Next probe' : 'Next attempt'}
      value={step.retryAt === undefined ? undefined : <Until at={step.retryAt} />}
    />
    <Fact name="Waits" value={step.waitsUntil === undefined ? undefined : <Until at={step.waitsUntil} />} />
    <Fact
      name="Deferred"
      value={
        step.deferred === undefined ? undefined : (
          <>
            {step.deferred.why}, since <Clock at={step.deferred.since ?? step.deferred.at} />
          </>
        )
      }
    />
    <Fact name="Changed" value={step.changedAt === undefined ? undefined : <Clock at={step.changedAt} />} />
    {step.pointOfNoReturn === true ? <Fact name="Mark" value="point of no return" /> : null}
    {step.onFailure === true ? (
      <Fact name="Mark" value="runs after the execution ends without success" />
    ) : null}
  </dl>
);

const Fact = ({ name, value }: { name: string; value: ComponentChildren }): JSX.Element | null =>
  value === undefined || value === '' ? null : (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );

function Children({ step: { children }, placeOf }: Pick<PanelProps, 'step' | 'placeOf'>): JSX.Element | null {
  if (children === undefined) return null;
  const ends = endsText(children);
  return (
    <>
      <h3>Its executions</h3>
      <p>
        {childrenNote(children)}
        {ends === '' ? '' : `: ${ends}`}
      </p>
      <ul class="ids">
        {children.executionIds.slice(0, children.started).map((id) => (
          <li key={id}>
            <a href={executionLink(id)}>
              <ShortId id={id} />
            </a>{' '}
            <a href={placeOf(id)} aria-label={`Open ${id} in the graph`}>
              in the graph
            </a>
          </li>
        ))}
      </ul>
      {children.executionIds.length < children.started ? (
        <p class="faint">
          {children.rounds === undefined
            ? `These are the first ${children.executionIds.length}; the others are numbered consecutively.`
            : `These are the latest ${children.executionIds.length}.`}
        </p>
      ) : null}
    </>
  );
}

const LOOK = {
  done: 'done',
  accepted: 'active',
  failed: 'failed',
  unknown: 'waiting',
  'not-done': 'skipped',
  'still-running': 'active',
  'cannot-tell': 'waiting',
  compensated: 'compensated',
} as const;

function Attempts({ step }: { step: StepView }): JSX.Element | null {
  const { attempts, attemptsLeftOut } = step;
  if (attempts.length === 0) return null;
  return (
    <>
      <h3>Attempts</h3>
      <div class="scroll" tabIndex={0} role="group" aria-label="Attempts">
        <table>
          <thead>
            <tr>
              <th scope="col">Attempt</th>
              <th scope="col">Outcome</th>
              <th scope="col">Begun</th>
              <th scope="col">Took</th>
              <th scope="col">Agent</th>
              <th scope="col">Failure, input, idempotency key</th>
            </tr>
          </thead>
          <tbody>
            {attempts.map((one) => (
              <tr key={`${one.mode} ${one.number} ${one.claimedAt}`}>
                <th scope="row">
                  {one.mode === 'execute' ? '' : `${one.mode} `}
                  {one.number}
                </th>
                <td>
                  <Status tone={LOOK[one.outcome] ?? 'pending'}>{one.outcome}</Status>
                </td>
                <td>
                  <Clock at={one.claimedAt} />
                </td>
                <td>
                  <Lasted from={one.claimedAt} to={one.endedAt} />
                </td>
                <td>
                  {one.agent}
                  {(one.variant ?? 1) > 1 ? `, stage ${one.variant}` : ''}
                </td>
                <td>
                  <AttemptDetails attempt={one} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {attemptsLeftOut === undefined ? null : <p class="faint">{leftOutText(attemptsLeftOut)}</p>}
    </>
  );
}

const AttemptDetails = ({ attempt }: { attempt: AttemptView }): JSX.Element => (
  <>
    {attempt.failure === undefined ? null : (
      <p>
        <code>{attempt.failure.code}</code> <Prose text={attempt.failure.message} />
      </p>
    )}
    {attempt.input === undefined ? null : (
      <p>
        {attempt.inputGiven === true ? 'entered by a person: ' : ''}
        <code class="wrap">{JSON.stringify(attempt.input)}</code>
      </p>
    )}
    {attempt.inputBytes === undefined ? null : <p class="faint">input of {attempt.inputBytes} bytes</p>}
    {attempt.idempotencyKey === undefined ? null : (
      <p class="faint">
        <code class="wrap">{attempt.idempotencyKey}</code>
      </p>
    )}
  </>
);
