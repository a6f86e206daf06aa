/** Prints the API's answers as tables, without colours so that they are the same in a file. */

import {
  askedText,
  type AttemptView,
  type ExecutionSummary,
  type ExecutionView,
  type IncidentView,
  type ListOrder,
  type Reasons,
  riskText,
  type StepView,
} from '../lib/api/answers.ts';
import type { WorkflowView } from '../lib/api/deployment-answers.ts';
import {
  actedFacts,
  answerFacts,
  childrenText,
  leftOutText,
  noteOfKind,
  performerOf,
  stateText,
} from '../lib/view/waiting-steps.ts';
import { leavesFact, standingFacts, statusText } from './print-standing.ts';
import { leftAfterPause, pauseText, underWayText } from '../lib/view/deployment.ts';
import { type Row, timesText } from '../lib/view/timeline.ts';
import {
  byText,
  type Cells,
  type Columns,
  countText,
  durationText,
  type Fact,
  factLines,
  printable,
  table,
  tableOf,
  timeText,
} from '../lib/view/text.ts';

/** The results of a list so far. */
export interface Found {
  readonly items: readonly ExecutionSummary[];
  readonly more: boolean;
  readonly orderedBy: ListOrder;
}

export function listText({ items, more, orderedBy }: Found, now: number): string {
  if (items.length === 0) return 'No executions.\n';
  const columns: Columns<ExecutionSummary> = [
    ['EXECUTION', ({ executionId }) => executionId],
    ['WORKFLOW', ({ workflow }) => workflow],
    ['STATUS', statusOf],
    ['STARTED', ({ startedAt }) => timeText(startedAt)],
    ['TOOK', ({ startedAt, endedAt }) => durationText((endedAt ?? now) - startedAt)],
    ['AT RISK FOR', ({ riskSince }) => (riskSince === undefined ? '' : durationText(now - riskSince))],
    ['STEP', ({ step }) => step ?? ''],
    ['BECAUSE', becauseText],
    ['CODE', ({ code }) => printable(code ?? '')],
  ];
  const order = orderedBy === 'wakeAt' ? 'More than 10,000 are open, listed by due time.\n' : '';
  const rest = more ? 'There are more: raise --limit, or filter (list --help).\n' : '';
  return tableOf(columns, items) + causesText(items) + order + rest;
}

/** The reason why an execution is not simply running, from its own record. */
function becauseText({ risk, status, step, asked }: ExecutionSummary): string {
  if (risk !== undefined) return printable(riskText(risk));
  if (status === 'waiting')
    return `a person is asked${step === undefined ? '' : ` about '${printable(step)}'`}`;
  return asked === undefined ? '' : 'a person is asked below it';
}

/**
 * The status, with the number of questions in child executions, because the execution's own status is only
 * 'running'.
 */
const statusOf = ({ status, asked }: ExecutionSummary): string =>
  asked === undefined ? status : `${status}, ${countText(asked.count, asked.atLeast)} asked below`;

/** Counts the listed executions by failure code, if there are several codes. */
function causesText(items: readonly ExecutionSummary[]): string {
  const counts = new Map<string, number>();
  for (const { code } of items) if (code !== undefined) counts.set(code, (counts.get(code) ?? 0) + 1);
  if (counts.size < 2) return '';
  const causes = [...counts].toSorted(([, one], [, other]) => other - one);
  return `By cause: ${causes.map(([code, count]) => `${countText(count)} ${printable(code)}`).join(', ')}\n`;
}

/** An open incident: what failed, and the resolutions that are safe now. */
export const incidentFact = (one: IncidentView): Fact => [
  `incident ${one.number}`,
  `${one.step === undefined ? '' : `${one.step}: `}${one.failure.message} (${(one.choices ?? []).map(({ choice }) => choice).join(', ')})`,
];

/** The agent's invalid output, for an incident about one. */
export const answerFact = (one: IncidentView): readonly Fact[] =>
  one.wrongAnswer === undefined ? [] : [['it answered', printable(one.wrongAnswer)]];

export const openIncidentFacts = (view: ExecutionView): readonly IncidentView[] =>
  view.incidents.filter((one) => one.closedAt === undefined);

/** The command that resolves an incident; the choice is left to the person. */
export const answerLine = (executionId: string, { number }: IncidentView): string =>
  `resolve ${executionId} ${number} --choice …`;

/** @param invocation completes a command line with the global options */
export function executionText(
  view: ExecutionView,
  now: number,
  invocation: (line: string) => string,
): string {
  const { cause } = view;
  const facts: readonly Fact[] = [
    ['execution', view.executionId],
    ['workflow', view.workflow],
    ['status', statusText(view.status, view.cause?.undo)],
    ['started', `${timeText(view.startedAt)}${byText(view.startedBy)}`],
    view.endedAt === undefined
      ? [
          'deadline',
          leftAfterPause(view) ?? `${timeText(view.deadlineAt)}, ${deadlineText(view.deadlineAt, now)}`,
        ]
      : ['took', durationText(view.endedAt - view.startedAt)],
    ...(cause === undefined
      ? []
      : [
          [
            'cause',
            `${[cause.kind, cause.step, cause.failure.message].filter(Boolean).join(': ')}${byText(cause.by)}`,
          ] as const,
        ]),
    ...(view.end === undefined ? [] : [['ended', endText(view.end)] as const]),
    ...askedFacts(view, invocation),
    ...standingFacts(view),
    ...(view.replaces === undefined ? [] : [['replaces', view.replaces] as const]),
    ...pauseFact(view, now),
    ...(view.output === undefined ? [] : [['output', JSON.stringify(view.output)] as const]),
    ...openIncidentFacts(view).flatMap((one) => [
      incidentFact(one),
      ...answerFact(one),
      ...leavesFact(one),
      ['answer', invocation(answerLine(view.executionId, one))] as const,
    ]),
    ...answerFacts(view, invocation),
    ...actedFacts(view),
  ];
  return `${factLines(facts)}\n${table(
    ['STEP', 'STATUS', 'AGENT', 'NOTE'],
    view.steps.map((step) => stepRow(step, view, now)),
  )}${childrenText(view)}${attemptsText(view)}${omittedText(view, invocation)}`;
}

/** Questions in child executions, with the command that shows them. */
const askedFacts = ({ asked }: ExecutionView, invocation: (line: string) => string): readonly Fact[] =>
  asked === undefined
    ? []
    : [
        ['asked', askedText(asked)],
        ['answer', `${invocation(`show ${asked.next.executionId}`)} (all: ${invocation('incidents')})`],
      ];

/** One step, with the agent's answer. */
export function stepText(view: ExecutionView, now: number): string {
  const rows = view.steps.map((step) => stepRow(step, view, now));
  const outputs = view.steps.flatMap(({ output }) =>
    output === undefined ? [] : [`\nOUTPUT\n${JSON.stringify(output, null, 2)}\n`],
  );
  return `${table(['STEP', 'STATUS', 'AGENT', 'NOTE'], rows)}${attemptsText(view)}${outputs.join('')}`;
}

/** Names the parts that the API left out of a large answer, and how to get them. */
function omittedText(view: ExecutionView, invocation: (line: string) => string): string {
  const cut = view.steps.filter(({ omitted }) => omitted !== undefined).map(({ name }) => name);
  const own = view.omitted === undefined ? '' : `\nLeft out because too large: ${view.omitted.join(', ')}.\n`;
  if (cut.length === 0) return own;
  const names = `${cut.slice(0, MAX_NAMED).join(', ')}${cut.length > MAX_NAMED ? ', …' : ''}`;
  const look = invocation(`show ${view.executionId} --step ${cut[0] ?? ''}`);
  return `${own}\nOutputs of ${cut.length} steps are left out, because all together would be too large: ${names}\nShow one step: ${look}\n`;
}

const MAX_NAMED = 5;

const endText = ({ status, at }: NonNullable<ExecutionView['end']>): string =>
  `${status}, ${timeText(at)}; its on-failure steps run next`;

/** The current pause. */
function pauseFact({ status, pauses }: ExecutionView, now: number): readonly Fact[] {
  const pause = status === 'paused' ? pauses?.at(-1) : undefined;
  if (pause === undefined) return [];
  const since = `for ${durationText(now - pause.at)}${byText(pause.by)}: ${pause.reason}`;
  const until = `a person is asked ${deadlineText(pause.deadlineAt, now)}`;
  return [['paused', `${since}; ${underWayText(pause)}; ${until}`]];
}

export const deadlineText = (at: number, now: number): string =>
  at < now ? `passed ${durationText(now - at)} ago` : `in ${durationText(at - now)}`;

/** The row of a step. After the execution's end it leaves out what the step waits for. */
const stepRow = (step: StepView, view: ExecutionView, now: number): Cells => [
  step.name,
  stateText(step, view),
  step.agent ?? step.kind,
  view.endedAt === undefined ? noteOf(step, view, now) : '',
];

const WAITS: readonly string[] = ['retrying', 'accepted', 'unknown', 'compensating'];
const DEFERRED_BECAUSE = {
  paused: 'its agent was paused',
  breaker: "the agent's breaker was open",
  unclaimed: 'no agent has taken it yet',
  'not-deployed': 'its agent was not deployed',
  rate: 'its agent begins only so many a second',
};

/** Accepted work, such as 'job-1, progress 0.4'. */
const acceptedText = ({ accepted }: StepView): string => {
  const named = accepted?.token === undefined ? 'its service is at it' : printable(accepted.token);
  return accepted?.progress === undefined
    ? named
    : `${named}, progress ${printable(String(accepted.progress))}`;
};

/** The note of a step: what it waits for, or its progress. */
function noteOf(step: StepView, { status }: ExecutionView, now: number): string {
  const kind = noteOfKind(step, now);
  if (kind !== undefined) return kind;
  if (step.leaseUntil !== undefined) {
    const lease = step.leaseUntil - now;
    const held =
      lease > 0 ? `lease for ${durationText(lease)} more` : `lease ended ${durationText(-lease)} ago`;
    return step.progress === undefined ? held : `${held}, progress ${step.progress}`;
  }
  if (status === 'paused' && WAITS.includes(step.status)) return 'goes on after the pause';
  if (step.retryAt !== undefined && (step.deferred !== undefined || WAITS.includes(step.status))) {
    const held = step.deferred === undefined ? '' : `${DEFERRED_BECAUSE[step.deferred.why]}: `;
    const next = step.retryAt > now ? `in ${durationText(step.retryAt - now)}` : 'is due';
    if (step.status === 'accepted') return `${held}${acceptedText(step)}, asked ${next}`;
    // The next act is a probe if the outcome is unknown, otherwise a try.
    return `${held}next ${step.status === 'unknown' ? 'probe' : 'try'} ${next}`;
  }
  const first = step.onFailure === true ? ['the end'] : [];
  if (step.status === 'pending') return `after ${[...first, ...step.after].join(', ')}`;
  return step.onFailure === true ? 'on failure' : '';
}

function attemptsText(view: ExecutionView): string {
  const attempts = view.steps.flatMap((step) =>
    step.attempts.map((attempt) => ({ step: step.name, attempt })),
  );
  if (attempts.length === 0) return '';
  const missing = view.steps.flatMap(({ name, attemptsLeftOut: left }) =>
    left === undefined ? [] : [`${name}: ${leftOutText(left)}\n`],
  );
  attempts.sort((one, other) => one.attempt.claimedAt - other.attempt.claimedAt);
  const rows = attempts.map(({ step, attempt }) => attemptRow(step, attempt, view.startedAt));
  return `\n${table(['AT', 'STEP', 'ATTEMPT', 'AGENT', 'INPUT', 'OUTCOME', 'TOOK', 'WHY'], rows)}${missing.join('')}`;
}

const attemptRow = (step: string, attempt: AttemptView, startedAt: number): Cells => [
  `+${durationText(Math.max(0, attempt.claimedAt - startedAt))}`,
  step,
  `${attempt.mode} ${attempt.number}`,
  variantText(attempt),
  inputText(attempt),
  attempt.outcome,
  durationText(attempt.endedAt - attempt.claimedAt),
  attempt.failure === undefined ? '' : `${attempt.failure.code}: ${attempt.failure.message}`,
];

/** The variant of the recovery, if it is not the first. */
const variantText = ({ agent = '', variant = 1 }: AttemptView): string =>
  variant === 1 ? agent : `${agent} (variant ${variant})`;

const MAX_INPUT_CHARS = 40;

function inputText({ input, inputBytes, inputGiven }: AttemptView): string {
  const json = input === undefined ? '' : JSON.stringify(input);
  const text =
    json.length <= MAX_INPUT_CHARS ? json : `${json.slice(0, MAX_INPUT_CHARS - 1).toWellFormed()}…`;
  const shown = inputBytes === undefined ? text : `${inputBytes} bytes`;
  return inputGiven === true ? `${shown} given`.trim() : shown;
}

export function whyText(reasons: Reasons, timeline: readonly Row[], now: number): string {
  const { executionId, status, past, steps, next, warnings, omittedPast } = reasons;
  const startedAt = past[0]?.at ?? now;
  const earlier =
    omittedPast === undefined ? [] : [['', '', `(${omittedPast} earlier entries: too many for one answer)`]];
  const happened = past.map(({ at, step = '', what }) => [
    `+${durationText(Math.max(0, at - startedAt))}`,
    step,
    what,
  ]);
  const rows = steps.flatMap((step) => [
    [step.name, timeline.find((row) => row.step === step.name)?.status ?? step.status, step.because],
    ...(step.next.what === 'nothing' ? [] : [['', '', `next: ${nextText(step.next, now)}`]]),
  ]);
  const tables = [
    table(['AT', 'STEP', 'WHAT HAPPENED'], [...earlier, ...happened]),
    table(['STEP', 'STATUS', 'BECAUSE'], rows),
    timesText(timeline),
  ].filter((text) => text !== '');
  const warned = warnings.map((warning) => `WARNING: ${warning}\n`).join('');
  return `${executionId}  ${status}\nnext: ${nextText(next, now)}\n${warned}\n${tables.join('\n')}`;
}

function nextText({ what, at, who }: Reasons['next'], now: number): string {
  const by = who === undefined ? [] : [who.replace('-', ' ')];
  const when = at === undefined ? [] : [at > now ? `within ${durationText(at - now)}` : 'due now'];
  const note = [...by, ...when].join(', ');
  return note === '' ? what : `${what} (${note})`;
}

export function workflowsText(items: readonly WorkflowView[], now: number): string {
  if (items.length === 0) return 'No workflows.\n';
  const rows = items.flatMap((item) =>
    item.steps.map((step, index) => [
      index === 0 ? item.workflow : '',
      index === 0 ? durationText(item.withinMs) : '',
      step.name,
      performerOf(step),
      [...(step.onFailure === true ? ['a failure'] : []), ...step.after].join(', '),
      step.effect ?? '',
      step.undo ?? '',
    ]),
  );
  const held = items.filter(({ pause }) => pause !== undefined);
  const lines = held.map(({ workflow, pause }) => `${workflow}: ${pauseText(pause, now)}\n`).join('');
  const shown = table(['WORKFLOW', 'WITHIN', 'STEP', 'AGENT', 'AFTER', 'EFFECT', 'UNDO'], rows);
  return lines === '' ? shown : `${shown}\n${lines}`;
}
