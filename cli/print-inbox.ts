/**
 * Prints the inbox: a table with the most urgent question first, equal questions in one line, and the command
 * that answers each.
 *
 * Does not own: grouping equal questions (`view/question-groups.ts`), the reads (`incidents.ts`).
 */

import { aboutText, type IncidentPage } from '../lib/api/answers.ts';
import {
  type AskedItem,
  bulkMeaning,
  type QuestionGroup,
  questionGroups,
} from '../lib/view/question-groups.ts';
import { type Columns, countText, durationText, printable, tableOf } from '../lib/view/text.ts';
import { answerLine } from './print.ts';

interface Shown {
  readonly now: number;
  /** Whether to print a line for each question instead of each group. */
  readonly isEach: boolean;
  /** Completes a command line with the global options. */
  readonly typed: (line: string) => string;
}

export function inboxText({ items, cursor }: IncidentPage, { now, isEach, typed }: Shown): string {
  if (items.length === 0) return 'No open incidents, approvals or callbacks.\n';
  const atLeast = cursor === undefined ? undefined : true;
  const groups = questionGroups(items);
  const rows = isEach ? items.map((item): QuestionGroup => [item]) : groups;
  const answers = groups.map((group) => `  ${lineFor(group, typed)}\n`).join('');
  const total = `${countText(items.length, atLeast)} open, the earliest deadline first\n`;
  return `${total}${groupTable(
    rows,
    now,
    isEach ? undefined : atLeast,
  )}\nAnswer with:\n${answers}${eachText(groups, isEach, typed)}`;
}

function groupTable(groups: readonly QuestionGroup[], now: number, atLeast: true | undefined): string {
  const columns: Columns<QuestionGroup> = [
    ['EXECUTION', ([{ executionId }, ...others]) => `${executionId}${others.length === 0 ? '' : ' …'}`],
    ['COUNT', ({ length }) => (length === 1 && atLeast === undefined ? '' : countText(length, atLeast))],
    ['INCIDENT', (group) => numberText(group)],
    ['STEP', ([{ step }]) => step ?? ''],
    ['ABOUT', (group) => printable(shortened(aboutOf(group), ABOUT_CHARS))],
    ['FAILURE', failureText],
    ['OPEN FOR', (group) => durationText(now - Math.min(...group.map(({ openedAt }) => openedAt)))],
    ['OTHERWISE', (group) => otherwiseText(group, now)],
  ];
  return tableOf(columns, groups);
}

const FAILURE_CHARS = 110;
const ABOUT_CHARS = 100;
const shortened = (text: string, chars: number): string =>
  text.length <= chars ? text : `${text.slice(0, chars - 1)}…`;

function numberText([item, ...others]: QuestionGroup): string {
  if (!('number' in item)) return item.kind;
  return others.length === 0 ? String(item.number) : 'incident';
}

/** Names a group by its workflow, because the executions differ. */
const aboutOf = ([item, ...others]: QuestionGroup): string =>
  others.length === 0 ? aboutText(item) : item.workflow;

function failureText(group: QuestionGroup): string {
  const [item] = group;
  const failure = 'number' in item ? shortened(item.failure.message, FAILURE_CHARS) : '';
  return `${failure} ${remindersText(group)}`.trim();
}

function remindersText([{ reminders }, ...others]: QuestionGroup): string {
  if (reminders === 0 || others.length > 0) return '';
  return `(reminded ${reminders === 1 ? 'once' : `${reminders} times`})`;
}

function otherwiseText([{ otherwise, deadlineAt }, ...others]: QuestionGroup, now: number): string {
  const first = others.length === 0 ? '' : ', the first';
  return `${otherwise}${first} in ${durationText(Math.max(0, deadlineAt - now))}`;
}

/**
 * The command that answers a question. For a callback it shows the execution, because the inbox does not
 * contain tokens.
 */
function lineFor(group: QuestionGroup, typed: Shown['typed']): string {
  const [item, ...others] = group;
  return (others.length === 0 ? undefined : bulkLine(group, typed)) ?? lineOf(item, typed);
}

function lineOf(item: AskedItem, typed: Shown['typed']): string {
  // Suggests `show`, because the inbox does not contain the safe choices.
  if ('number' in item)
    return `${typed(
      answerLine(item.executionId, item),
    )} (its safe answers: ${typed(`show ${item.executionId}`)})`;
  return item.kind === 'approval'
    ? `${typed(`approve ${item.executionId} ${item.step}`)} (or reject)`
    : `${typed(`show ${item.executionId}`)} (has the token of '${item.step}')`;
}

/** The bulk command that answers a whole group; it asks for confirmation. */
function bulkLine(group: QuestionGroup, typed: Shown['typed']): string | undefined {
  const meant = bulkMeaning(group);
  if (meant === undefined) return undefined;
  const [item] = group;
  const { workflow = '', status = '', code } = meant.filter ?? {};
  const which = [
    `--workflow ${workflow} --status ${status}`,
    ...(code === undefined ? [] : [`--code ${quoted(code)}`]),
    ...(meant.step === undefined ? [] : [`--step ${meant.step}`]),
  ].join(' ');
  return 'number' in item
    ? `${typed(
        `bulk resolve ${which} --choice …`,
      )} (the safe answers of the first: ${typed(`show ${item.executionId}`)})`
    : `${typed(`bulk approve ${which}`)} (or reject)`;
}

/** Quotes a code, because it may be any text of an author or a service. */
const quoted = (text: string): string =>
  /^[\w.:-]+$/.test(text) ? text : `'${printable(text).replaceAll("'", `'\\''`)}'`;

const eachText = (groups: readonly QuestionGroup[], isEach: boolean, typed: Shown['typed']): string =>
  isEach || groups.every(({ length }) => length === 1)
    ? ''
    : `Each by itself: ${typed('incidents --each')}\n`;
