/**
 * The commands about incidents: incidents, resolve.
 *
 * Owns: their options and what they print. Does not own: which answers are safe (the API says so).
 */

import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  aboutText,
  ANSWERS,
  type Choice,
  type CallbackQuestionView,
  type IncidentPage,
  type IncidentView,
  type ResolveOptions,
} from '../lib/api/answers.ts';
import { client, examples, inputOf, say } from './commands.ts';
import { type Cli, invocation } from './io.ts';
import { answerLine } from './print.ts';
import { stoppedText } from './print-standing.ts';
import { durationText, printable, table } from '../lib/view/text.ts';

interface ResolveFlags {
  readonly choice: Choice;
  readonly reason?: string;
  readonly input?: string;
  readonly output?: string;
  readonly nothingHappened?: boolean;
}

export function addIncidents(program: Command, cli: Cli): void {
  program
    .command('incidents')
    .alias('inbox')
    .description(
      'list open questions to a person or an external party (incidents, approvals, callbacks), latest first',
    )
    .addHelpText('after', examples('incidents', 'incidents --json'))
    .action(async (_options, command: Command) => {
      const page = await client(command).incidents({ limit: 100 });
      say(cli, command, page, () => incidentsText(page, Date.now(), (line) => invocation(command, line)));
    });
  program
    .command('resolve')
    .argument('<id>', 'the id of the execution, or its first or last characters')
    .argument('<number>', 'the number of the incident', numberOf)
    .description('answer an incident; "show <id>" lists the answers that are safe now')
    .addOption(new Option('--choice <choice>', 'the answer').choices(ANSWERS).makeOptionMandatory())
    .option('--reason <text>', 'why; kept with the incident')
    .option('--input <json>', "for 'retry-with-input': JSON, or @file")
    .option('--output <json>', "for 'give-output': JSON, or @file")
    .option('--nothing-happened', 'you have checked: no attempt had an effect')
    .addHelpText(
      'after',
      examples(
        'resolve 0f343b0931126a20f133d67c2b018a3b 1 --choice retry',
        'resolve 0f343b0931126a20f133d67c2b018a3b 1 --choice skip --nothing-happened --reason "asked the bank"',
      ),
    )
    .action(async (id: string, incident: number, flags: ResolveFlags, command: Command) => {
      const answer = await client(command).resolve(id, incident, answerOf(flags));
      say(
        cli,
        command,
        answer,
        () => `${stoppedText(answer)}\nSee what follows: ${invocation(command, `why ${id}`)}\n`,
      );
    });
}

function numberOf(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1) return number;
  throw new InvalidArgumentError("an incident's number is 1 or more.");
}

const answerOf = ({ choice, reason, input, output, nothingHappened }: ResolveFlags): ResolveOptions => ({
  choice,
  ...(reason === undefined ? {} : { reason }),
  ...(input === undefined ? {} : { input: inputOf(input) }),
  ...(output === undefined ? {} : { output: inputOf(output, '--output') }),
  ...(nothingHappened === true ? { nothingHappened } : {}),
});

const FAILURE_CHARS = 110;
const ABOUT_CHARS = 100;
const shortened = (text: string, chars: number): string =>
  text.length <= chars ? text : `${text.slice(0, chars - 1)}…`;

const remindersText = ({ reminders }: Pick<CallbackQuestionView | IncidentView, 'reminders'>): string =>
  reminders === 0 ? '' : `(reminded ${reminders === 1 ? 'once' : `${reminders} times`})`;

/** The command that answers; the token of a callback is shown with its execution alone. */
function lineFor(item: IncidentPage['items'][number], invoked: (line: string) => string): string {
  // A list has no choices: which are safe follows from the execution.
  if ('number' in item)
    return `${invoked(answerLine(item.executionId, item))} (its safe answers: ${invoked(`show ${item.executionId}`)})`;
  return item.kind === 'approval'
    ? `${invoked(`approve ${item.executionId} ${item.step}`)} (or reject)`
    : `${invoked(`show ${item.executionId}`)} (has the token of '${item.step}')`;
}

function incidentsText(
  { items, cursor }: IncidentPage,
  now: number,
  invoked: (line: string) => string,
): string {
  if (items.length === 0) return 'No open incidents, approvals or callbacks.\n';
  const rows = items.map((item) => [
    item.executionId,
    'number' in item ? String(item.number) : item.kind,
    item.step ?? '',
    printable(shortened(aboutText(item), ABOUT_CHARS)),
    'number' in item
      ? `${shortened(item.failure.message, FAILURE_CHARS)} ${remindersText(item)}`.trimEnd()
      : remindersText(item),
    durationText(now - item.openedAt),
    `${item.otherwise} in ${durationText(Math.max(0, item.deadlineAt - now))}`,
  ]);
  const rest = cursor === undefined ? '' : 'There are more.\n';
  const answers = items.map((item) => `  ${lineFor(item, invoked)}\n`).join('');
  const head = ['EXECUTION', 'INCIDENT', 'STEP', 'ABOUT', 'FAILURE', 'OPEN FOR', 'OTHERWISE'];
  return `${table(head, rows)}${rest}\nAnswer with:\n${answers}`;
}
