/**
 * The text of `show` and `workflows` about steps that no agent performs: until when they wait, how to answer
 * them, their executions.
 */

import {
  askedText,
  callerText,
  pairsText,
  type ExecutionView,
  itemsText,
  laneText,
  type StepView,
} from '../api/answers.ts';
import type { RecoveryView, WorkflowStepView } from '../api/deployment-answers.ts';
import { byText, durationText, type Fact, printable, table, timeText } from './text.ts';

type Children = NonNullable<StepView['children']>;

/** Returns the note of a step that waits, or has executions of its own. */
export function noteOfKind(step: StepView, now: number): string | undefined {
  const { waitsUntil = now } = step;
  const left = waitsUntil - now;
  const until = left > 0 ? `until ${timeText(waitsUntil)}, ${durationText(left)} more` : 'time is over';
  if (step.children !== undefined)
    return `${childrenNote(step.children)}${step.waitsUntil === undefined ? '' : `; waits for message '${step.message?.name ?? ''}', ${until}`}`;
  if (step.waitsUntil === undefined) return undefined;
  if (step.kind === 'lane') return `${laneText(step.lane)}, ${until}`;
  if (step.kind === 'receive') return `waits for a message, ${until}`;
  return step.kind === 'wait' ? until : `waits for an answer, ${until}${defaultOf(step)}`;
}

const defaultOf = ({ question }: StepView): string =>
  question === undefined || question.otherwise === 'fail' ? '' : `, otherwise ${question.otherwise}`;

/**
 * Describes the progress of a step's executions: '2 of 3 ended'. For a list it counts items, '3 of 3 items
 * ended', because people do not know the executions that perform them.
 */
export function childrenNote({ count, started, ended, items, rounds, try: number, asked }: Children): string {
  const over = Object.values(ended).reduce((sum, one) => sum + one, 0);
  const people = asked === undefined ? '' : `${askedText(asked)}; `;
  const which = `${people}${number === undefined ? '' : `try ${number}: `}`;
  if (rounds !== undefined) return `${people}${roundsNote(rounds, count)}`;
  if (items !== undefined) return `${which}${itemsText(items, over < count)}`;
  return `${which}${over} of ${count} ended${started < count ? `, ${started} started` : ''}`;
}

/**
 * Describes the progress of rounds: '3 of at most 500 rounds', and how many executions there were if tries
 * failed.
 */
const roundsNote = (
  { done, atMost, compensating }: NonNullable<Children['rounds']>,
  tries: number,
): string =>
  compensating === undefined
    ? `${done} of at most ${atMost} rounds${tries > done + 1 ? `, ${tries} executions` : ''}`
    : `execution ${compensating} of ${tries} is undone, the latest first`;

/** Returns the state of a step in words: 'not reached' if it had not begun when its execution was stopped. */
export function stateText(
  { status, onFailure }: Pick<StepView, 'status' | 'onFailure'>,
  execution: Pick<ExecutionView, 'status' | 'endedAt'>,
): string {
  if (status !== 'pending' && status !== 'ready') return status;
  const isForwardOver = execution.status === 'compensating' || execution.status === 'following-up';
  const isOver = execution.endedAt !== undefined || (isForwardOver && onFailure !== true);
  return isOver ? 'not reached' : status;
}

/** Returns the approvals that a person may give or refuse now. */
export const openApprovals = (view: ExecutionView): readonly StepView[] =>
  view.steps.filter(({ kind, token, waitsUntil }) => kind === 'approval' && token && waitsUntil);

/** Returns the commands that answer open callbacks and approvals. */
export const answerFacts = (view: ExecutionView, invocation: (line: string) => string): readonly Fact[] =>
  view.steps.flatMap((step) => {
    if (step.token === undefined) return [];
    const line =
      step.kind === 'approval'
        ? `${invocation(`approve ${view.executionId} ${step.name}`)} (or reject)`
        : `${invocation(`complete ${step.token} --output …`)} (or fail, heartbeat)`;
    const shown = pairsText(step.question?.shown ?? {});
    const asked = shown === '' ? [] : [['asked', `${step.name}: ${printable(shown)}`] as const];
    return [...asked, ['answer', line] as const];
  });

/** Lists the people who acted by hand, if the API's authorizer vouches for their names. */
export const actedFacts = (view: ExecutionView): readonly Fact[] => [
  ...(view.retries ?? []).map(
    ({ at, by, reason }) => ['tried again', `${timeText(at)}${byText(by)}: ${reason}`] as const,
  ),
  ...view.incidents.flatMap(({ number, caller, choice }) =>
    caller === undefined
      ? []
      : [[`incident ${number}`, `${callerText(caller)} chose ${choice ?? ''}`] as const],
  ),
  ...view.steps.flatMap(({ name, by }) =>
    by === undefined ? [] : [['answered', `${name}${byText(by)}`] as const],
  ),
  ...Object.entries(view.people ?? {}).map(
    ([person, deed]) => ['four eyes', `not by ${person} (${deed})`] as const,
  ),
];

/** Prints the executions of the steps that have any; '' if there are none. */
export function childrenText(view: ExecutionView): string {
  const rows = view.steps.flatMap(({ name, children }) =>
    children === undefined ? [] : [[name, startedText(children), endsText(children), idsText(children)]],
  );
  return rows.length === 0 ? '' : `\n${table(['CHILDREN OF', 'STARTED', 'ENDED', 'EXECUTIONS'], rows)}`;
}

const startedText = ({ started, count, items, rounds }: Children): string =>
  rounds !== undefined
    ? `${started} in rounds`
    : items === undefined
      ? `${started} of ${count}`
      : `${items.begun} of ${items.count} items`;

/** Counts the ends by status, such as '1 succeeded, 1 failed'; '' if there are none. */
export const endsText = ({ ended, items }: Children): string =>
  Object.entries(items?.ended ?? ended)
    .map(([status, count]) => `${count} ${status}`)
    .join(', ');

/** The maximum number of executions that are all printed; of more, only the first and the last are. */
const FEW = 3;

function idsText({ executionIds, count, rounds }: Children): string {
  if (count <= FEW) return executionIds.join(', ');
  const [first = ''] = executionIds;
  if (rounds !== undefined) return `${first} … ${executionIds.at(-1) ?? ''}`;
  // The children are numbered from 0.
  return `${first} … ${first.replace(/0(?=(?:-\d+)?$)/, String(count - 1))}`;
}

function answeredWithin({ kind, message, by, withinMs = 0, otherwise, remindMs }: WorkflowStepView): string {
  const then = otherwise === undefined ? '' : `, otherwise ${otherwise}`;
  const reminders = remindMs === undefined ? '' : `, reminds every ${durationText(remindMs)}`;
  const what = message === undefined ? kind : `message ${message}`;
  return `${what}${by === undefined ? '' : ` by ${by}`} within ${durationText(withinMs)}${then}${reminders}`;
}

/** Names what performs a step, or what it waits for. */
export const performerOf = (step: WorkflowStepView): string =>
  `${performedBy(step)}${timeOf(step)}${step.tolerate === true ? ', may fail' : ''}`;

/**
 * Describes the stages, such as 'again 4 times, then with other input once, then a person is asked for 1d,
 * otherwise undo'; undefined if there are none.
 */
export const recoveryText = ({ recovery = [] }: WorkflowStepView): string | undefined =>
  recovery.length === 0 ? undefined : recovery.map(stageText).join(', then ');

function stageText({ kind, attempts = 1, agent, withinMs = 0, otherwise }: RecoveryView): string {
  const times = attempts === 1 ? 'once' : `${attempts} times`;
  switch (kind) {
    case 'withInput':
      return `with other input ${times}`;
    case 'useAgent':
      return `by ${agent ?? ''} ${times}`;
    case 'askPerson':
      return `a person is asked for ${durationText(withinMs)}, otherwise ${otherwise ?? ''}`;
    default:
      return `again ${times}`;
  }
}

/**
 * Prints the time limit, except for callbacks, approvals and receives, whose text of what they wait for has
 * it.
 */
const timeOf = ({ kind, withinMs }: WorkflowStepView): string =>
  withinMs === undefined || kind === 'callback' || kind === 'approval' || kind === 'receive'
    ? ''
    : ` within ${durationText(withinMs)}`;

function performedBy(step: WorkflowStepView): string {
  switch (step.kind) {
    case 'wait':
      if (step.for !== undefined) return 'wait as long as its data says';
      return step.forMs === undefined ? 'wait until a time' : `wait ${durationText(step.forMs)}`;
    case 'lane':
      return `lane ${step.lane ?? ''}, ${step.atMost ?? 1} at a time`;
    case 'callback':
    case 'approval':
    case 'receive':
      return answeredWithin(step);
    case 'child':
      return step.rounds === undefined
        ? `child ${step.workflow ?? ''}`
        : `rounds of ${step.agent ?? step.workflow ?? ''}, at most ${step.rounds.atMost}${eachMessage(step.rounds)}`;
    case 'map':
      return `map ${step.agent ?? step.workflow ?? ''}`;
    default:
      return step.agent ?? '';
  }
}

/** Describes the messages that begin the rounds, including the first unless it has an input. */
const eachMessage = ({ first, message }: NonNullable<WorkflowStepView['rounds']>): string =>
  message === undefined
    ? first === undefined
      ? ''
      : `, the first with a message '${first.name}'`
    : `, each${first === undefined ? ' but the first' : ''} with a message '${message.name}'`;

/** Says how many of a step's attempts are not shown. */
export const leftOutText = ({ count }: NonNullable<StepView['attemptsLeftOut']>): string =>
  `${count} ${count === 1 ? 'attempt' : 'attempts'} left out between its first and its latest`;
