/**
 * `steadfast bulk`: one command for many executions.
 *
 * Owns: its options, and the confirmation before each action. Does not own: which actions are possible (the
 * API says so), the layout (`print.ts`).
 */

import { Argument, type Command, Option } from 'commander';
import { ANSWERS } from '../../lib/api/answers.ts';
import type { ListOptions } from '../../lib/api/call-options.ts';
import type { BulkAction, BulkOptions, BulkView } from '../../lib/api/bulk-answers.ts';
import type { Client } from '../../lib/api/client.ts';
import { client, examples, inputOf, say, textOfFile } from '../commands.ts';
import { CLOCK, type Cli, CliError, type Clock, EXIT, invocation, messageOf } from '../io.ts';
import { withFilter } from '../lists.ts';
import { type Times, timesOf, type WrittenTimes } from '../written-times.ts';
import { foundText, progressText } from './print.ts';

const ID = '7d9c1b7e0f2a4c5d8e6f1a2b3c4d5e6f';
const ACTIONS = ['retry', 'cancel', 'pause', 'resume', 'resolve', 'approve', 'reject'] as const;
/** Subcommands that act on an existing bulk action. */
const OF_ONE = ['show', 'confirm'] as const;
type Verb = BulkAction | (typeof OF_ONE)[number];
const WATCH_EVERY_MS = 2_000;

interface Flags extends Omit<ListOptions, 'limit' | 'cursor' | keyof WrittenTimes>, WrittenTimes {
  readonly ids?: string;
  readonly reason?: string;
  readonly undo: boolean;
  readonly within?: string;
  readonly choice?: BulkOptions['choice'];
  readonly input?: string;
  readonly output?: string;
  readonly nothingHappened?: true;
  readonly step?: string;
  readonly comment?: string;
  readonly bulkKey?: string;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly watch?: true;
}

export function addBulk(program: Command, cli: Cli, clock: Clock = CLOCK): void {
  const command = program
    .command('bulk')
    .addArgument(
      new Argument(
        '<action>',
        'the action on each execution; or show or confirm an earlier bulk action',
      ).choices([...ACTIONS, ...OF_ONE]),
    )
    .argument('[id]', 'the id of the bulk action, for show and confirm')
    .description(
      'give one command to many executions: first it shows how many and ten of them; once you confirm, each gets it once',
    );
  withFilter(command)
    .option('--ids <ids>', 'act on these executions instead of a filter: ids separated by commas, or @file')
    .option('--reason <text>', 'why; kept with each execution')
    .option('--no-undo', 'for cancel: undo nothing; the effects of steps that acted stay')
    .option('--within <duration>', 'for pause: how long each pause may last before a person is asked')
    .addOption(new Option('--choice <choice>', 'for resolve: the answer').choices(ANSWERS))
    .option(
      '--input <json>',
      'for retry: another input for the step that asks or has failed; for resolve: with retry-with-input',
    )
    .option('--output <json>', 'for resolve: with give-output')
    .option('--nothing-happened', 'for resolve: you have checked that no attempt had an effect')
    .option(
      '--step <name>',
      'for resolve, approve, reject and retry --input: the step that asks or has failed',
    )
    .option('--comment <text>', 'for approve: for the steps that follow')
    .option('--bulk-key <key>', 'idempotency key: the same key and options return the same bulk action')
    .option('--dry-run', 'only show how many and which')
    .option('--yes', 'confirm it without asking')
    .option('--watch', 'then print the progress until it is done; with --json one line per change')
    .addHelpText(
      'after',
      examples(
        'bulk retry --status failed --code bank-unavailable --since 09:00 --reason "the bank is back"',
        'bulk cancel --workflow hello-greeting --status open --dry-run',
        'bulk retry --ids @these.txt --yes --watch',
        'bulk approve --workflow refund --step release',
        `bulk confirm ${ID}`,
        `bulk show ${ID} --watch --json`,
      ),
    )
    .action(async (action: Verb, id: string | undefined, flags: Flags, it: Command) => {
      const api = client(it);
      if (action !== 'show' && action !== 'confirm') return made(cli, it, clock, action, id, flags);
      if (id === undefined)
        throw new CliError(
          'no-id',
          `the id of the bulk action is missing: ${invocation(it, `bulk ${action} <id>`)}`,
        );
      const view = await api.bulk(id);
      if (action === 'confirm') return confirmed(cli, it, clock, await collected(cli, api, view), flags);
      return flags.watch ? watched(cli, it, clock, view) : told(cli, it, view);
    });
}

async function made(
  cli: Cli,
  command: Command,
  clock: Clock,
  action: BulkAction,
  id: string | undefined,
  flags: Flags,
): Promise<void> {
  if (id !== undefined)
    throw new CliError(
      'stray-id',
      `name the executions by a filter or --ids; for a single execution: ${invocation(command, `${action} ${id}`)}`,
    );
  const api = client(command);
  const view = await collected(
    cli,
    api,
    await api.makeBulk(optionsOf(action, flags, await timesOf(command, flags))),
  );
  const isJson = command.optsWithGlobals<{ json?: boolean }>().json === true;
  const text = foundText(view);
  if (view.count === 0) return say(cli, command, view, () => text);
  const later = `Confirm within a day: ${invocation(command, `bulk confirm ${view.bulkId}`)}`;
  if (flags.dryRun) return say(cli, command, view, () => `${text}Nothing was done. ${later}\n`);
  if (!flags.yes && !isJson) cli.io.out(text);
  if (flags.yes || (await isAgreed(cli, view))) return confirmed(cli, command, clock, view, flags);
  say(cli, command, view, () => `Nothing was done. ${later}\n`);
}

/** Asks for confirmation. @throws CliError `not-confirmed` without a terminal */
async function isAgreed({ io }: Cli, { action, count, bulkId }: BulkView): Promise<boolean> {
  if (io.ask === undefined)
    throw new CliError(
      'not-confirmed',
      `nothing was done: this is not a terminal, so you cannot be asked. Confirm with: npx steadfast bulk confirm ${bulkId}, or add --yes`,
    );
  return /^y(es)?$/i.test((await io.ask(`${action} these ${count} executions? [y/N] `)).trim());
}

/** Lets the API collect all executions, in as many calls as needed. */
async function collected({ io }: Cli, api: Client, first: BulkView): Promise<BulkView> {
  let view = first;
  while (view.status === 'collecting') {
    if (io.isTTY) io.err(`${view.count} found …\n`);
    view = await api.collectBulk(view.bulkId);
  }
  return view;
}

async function confirmed(
  cli: Cli,
  command: Command,
  clock: Clock,
  { bulkId, action }: BulkView,
  { watch }: Flags,
): Promise<void> {
  const api = client(command);
  const isAnswer = action === 'approve' || action === 'reject';
  const view = await (isAnswer ? api.answerBulk(bulkId) : api.confirmBulk(bulkId));
  return watch ? watched(cli, command, clock, view) : told(cli, command, view);
}

async function watched(cli: Cli, command: Command, clock: Clock, first: BulkView): Promise<void> {
  const api = client(command);
  const isJson = command.optsWithGlobals<{ json?: boolean }>().json === true;
  let said = '';
  for (let view = first; ; view = await api.bulk(first.bulkId)) {
    const text = isJson ? `${JSON.stringify(view)}\n` : progressText(view);
    if (text !== said) cli.io.out(text);
    said = text;
    if (view.status !== 'acting') {
      if (view.status === 'stopped') cli.exitCode = EXIT.notSucceeded;
      return;
    }
    await clock.sleep(WATCH_EVERY_MS);
  }
}

function told(cli: Cli, command: Command, view: BulkView): void {
  const { bulkId, executionId, status } = view;
  const next =
    status === 'collecting' || status === 'collected'
      ? `Confirm it: ${invocation(command, `bulk confirm ${bulkId}`)}`
      : status === 'acting'
        ? `See its progress: ${invocation(command, `bulk show ${bulkId} --watch`)}\nStop it: ${invocation(command, `pause ${executionId}`)}, or cancel`
        : `See its execution: ${invocation(command, `show ${executionId}`)}`;
  const text = view.progress === undefined ? foundText(view) : progressText(view);
  say(cli, command, view, () => `${text}${next}\n`);
}

/** @throws CliError `bad-input-file`, `bad-json` */
function optionsOf(action: BulkAction, flags: Flags, times: Times): BulkOptions {
  const { ids, undo, input, output, bulkKey, reason, within, choice, step, comment } = flags;
  const { nothingHappened, dryRun: _dry, yes: _yes, watch: _watch, ...filter } = flags;
  const rest = { reason, within, choice, step, comment, nothingHappened, idempotencyKey: bulkKey };
  const { workflow, status, atRisk, key, tag, code, plan } = filter;
  const asked = { workflow, status, atRisk, key, tag, code, plan, ...times };
  return {
    action,
    ...defined(rest),
    ...(undo ? {} : { undo }),
    ...(input === undefined ? {} : { input: inputOf(input) }),
    ...(output === undefined ? {} : { output: inputOf(output, '--output') }),
    ...(ids === undefined ? { filter: defined(asked) } : { ids: idsIn(ids), ...stray(defined(asked)) }),
  } as BulkOptions;
}

/** The options that have a value. */
const defined = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Passes on a filter given together with ids, so that the API refuses it. */
const stray = (filter: Record<string, unknown>): object =>
  Object.keys(filter).length === 0 ? {} : { filter };

/** Reads ids separated by commas, blanks or lines. */
function idsIn(text: string): readonly string[] {
  if (!text.startsWith('@')) return words(text);
  const file = text.slice(1);
  try {
    return words(textOfFile(file));
  } catch (error) {
    throw new CliError('bad-input-file', `cannot read the file ${file}: ${messageOf(error)}`);
  }
}

const words = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');
