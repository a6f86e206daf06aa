/**
 * The commands that choose, wait, or transform an answer: start, show, why. Also the client and the texts
 * that all commands share. Other commands: `api-commands.ts`.
 *
 * Does not own: the requests (`api/client.ts`), the layout of tables (`print.ts`).
 */

import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import {
  type ExecutionView,
  type IncidentView,
  type Json,
  type Started,
  type StepView,
} from '../lib/api/answers.ts';
import { bearer } from '../lib/api/authorization.ts';
import {
  AS_NAME,
  ApiError,
  type Client,
  type ClientOptions,
  createClient,
  exactJson,
  viewsUntilEnd,
} from '../lib/api/client.ts';
import { withShortIds } from '../lib/api/short-ids.ts';
import { patient, printChanges } from './changes-shown.ts';
import { withSchedules } from './local-schedules.ts';
import { fetchWithExits } from './logs/exits.ts';
import { leavesFact } from './print-standing.ts';
import { inOneLine } from './one-line.ts';
import { serverTime } from './server-time.ts';
import { regionOf, signedFetch } from './signed-fetch.ts';
import { type Cli, CliError, CLOCK, EXIT, invocation, messageOf } from './io.ts';
import { noteOfKind, openApprovals } from '../lib/view/waiting-steps.ts';
import {
  answerLine,
  executionText,
  openIncidentFacts,
  answerFact,
  incidentFact,
  stepText,
  whyText,
} from './print.ts';
import { rowsOf } from '../lib/view/timeline.ts';

interface Shared {
  readonly url: string;
  readonly region?: string;
  readonly token?: string;
  readonly as?: string;
  readonly json?: boolean;
}

export function addCommands(program: Command, cli: Cli): void {
  addStart(program, cli);
  addShow(program, cli);
  addWhy(program, cli);
}

/** The exit code by health, so that a check after a deployment can accept a degraded one. */
export const EXIT_OF = { healthy: EXIT.ok, degraded: EXIT.degraded, down: EXIT.notSucceeded } as const;

export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ npx steadfast ${line}`).join('\n')}`;

/**
 * The client for the API of the global options. Requests to a deployed API carry a token if there is one,
 * otherwise a signature.
 */
export function client(command: Command): Client {
  const { url, token, as, json, region = regionOf(url) } = command.optsWithGlobals<Shared>();
  const plain = serverTime.through(fetch);
  const local = { fetch: isLocal(url) ? fetchWithExits(withSchedules(plain)) : plain };
  const made = (options: Omit<ClientOptions, 'url'>): Client => {
    const api = withShortIds(createClient({ url, ...options }));
    return json === true ? api : inOneLine(api);
  };
  if (as !== undefined) return made({ as: localName(url, as), ...local });
  if (token !== undefined) return made({ fetch: bearer(token)(plain) });
  return made(region === undefined ? local : { fetch: serverTime.through(signedFetch({ region })) });
}

const isLocal = (url: string): boolean =>
  ['127.0.0.1', 'localhost', '[::1]'].includes(URL.canParse(url) ? new URL(url).hostname : '');

/**
 * @throws CliError `bad-as` if the API is not on this machine, because only there a name is accepted without
 * a check
 */
function localName(url: string, as: string): string {
  if (!isLocal(url))
    throw new CliError(
      'bad-as',
      `--as works only with an API on this machine; ${url} takes the caller from its authorizer. Leave --as out`,
    );
  if (AS_NAME.test(as)) return as;
  throw new CliError('bad-as', '--as takes a name of up to 64 letters, digits and +=,.@_-');
}

export function say(cli: Cli, command: Command, answer: unknown, text: () => string): void {
  const { json } = command.optsWithGlobals<Shared>();
  cli.io.out(json === true ? `${JSON.stringify(answer, null, 2)}\n` : text());
}

interface StartFlags {
  readonly input: string;
  readonly key?: string;
  readonly tag: Readonly<Record<string, string>>;
  readonly replaces?: string;
  readonly callbackUrl?: string;
  readonly priority?: { readonly priority: number };
  readonly wait?: true;
}

function addStart(program: Command, cli: Cli): void {
  program
    .command('start')
    .argument('<workflow>', 'the name of the workflow')
    .description('start an execution')
    .option('--input <json>', 'the input as JSON, or @file to read it from a file', '{}')
    .option('--key <key>', 'idempotency key: the same key and input return the same execution')
    .option('--tag <name:value>', 'a tag; repeat the option for more', tagsOf, {})
    .option('--replaces <id>', 'the ended execution in whose place this one starts')
    .option('--callback-url <url>', 'where its end and its questions are sent, signed')
    .option('--priority <0-9>', 'in a lane: the higher, the sooner', (text) => ({ priority: Number(text) }))
    .option('--wait', 'wait until the execution ends, then show it')
    .addHelpText(
      'after',
      examples(
        `start hello-greeting --input '{"name":"Ada"}'`,
        'start hello-greeting --input @input.json --key greeting-1 --wait',
      ),
    )
    .action(async (workflow: string, options: StartFlags, command: Command) => {
      const api = client(command);
      const key = options.key === undefined ? {} : { idempotencyKey: options.key };
      const replaced = options.replaces === undefined ? {} : { replaces: options.replaces };
      const called = options.callbackUrl === undefined ? {} : { callbackUrl: options.callbackUrl };
      const tags = Object.keys(options.tag).length === 0 ? {} : { tags: options.tag };
      const given = {
        input: inputOf(options.input),
        ...key,
        ...replaced,
        ...called,
        ...tags,
        ...options.priority,
      };
      const started = await api.start(workflow, given);
      if (options.wait) {
        sayStarted(cli, command, started);
        return showEnd(cli, command, started.executionId, true);
      }
      const { executionId, status } = started;
      const next =
        status === 'paused'
          ? `Its workflow is paused. To run this execution: ${invocation(command, `resume ${executionId}`)}`
          : `See it: ${invocation(command, `show ${executionId} --wait`)}`;
      say(cli, command, started, () => `${executionId}  ${status}\n${next}\n`);
    });
}

function tagsOf(text: string, before: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const [, name, value] = /^([^:]+):([^]*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('write name:value.');
  return { ...before, [name]: value };
}

/**
 * Reads a text file. Bytes that are not UTF-8 are refused.
 * @throws TypeError, or as `readFileSync` does
 */
export const textOfFile = (file: string): string =>
  new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));

/** @throws CliError `bad-input-file`, `bad-json`; ApiError `unsafe-number` */
export function inputOf(text: string, option = '--input'): Json {
  const file = text.startsWith('@') ? text.slice(1) : undefined;
  const where = file ?? option;
  try {
    return exactJson(file === undefined ? text : textOfFile(file), where);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (file !== undefined && 'code' in Object(error)) {
      throw new CliError('bad-input-file', `cannot read the input file ${file}: ${messageOf(error)}`);
    }
    throw new CliError(
      'bad-json',
      `${where} is not JSON: ${messageOf(error)}\nGive JSON in single quotes, or @file`,
    );
  }
}

const showText = (command: Command, view: ExecutionView): string =>
  executionText(view, serverTime.now(), (line) => invocation(command, line));

/**
 * Prints at once what the command waits for and where to see more, to stderr because stdout is for the
 * answer.
 */
function sayStarted(cli: Cli, command: Command, { executionId, status }: Started): void {
  const { json } = command.optsWithGlobals<Shared>();
  if (json === true) cli.io.err(`${JSON.stringify({ executionId, status })}\n`);
  else cli.io.err(`${executionId}  ${status}\nSee it: ${pageOf(command, executionId)}\n`);
}

/** The page of an execution: its address for a local API, or the command that opens it for a deployment. */
function pageOf(command: Command, executionId: string): string {
  const { url } = command.optsWithGlobals<Shared>();
  return isLocal(url)
    ? `${url.replace(/\/$/, '')}/console/#/executions/${encodeURIComponent(executionId)}`
    : invocation(command, 'console');
}

/** Prints the state of each step that has changed. */
function sayChanges(cli: Cli, view: ExecutionView, known: Map<string, string>): void {
  for (const step of view.steps) {
    const { name, status, failure } = step;
    const why = failure === undefined || status === 'done' ? '' : ` (${failure.code}: ${failure.message})`;
    const line = `${name}: ${status}${why}`;
    const isFirst = !known.has(name) && (status === 'pending' || status === 'ready');
    if (known.get(name) !== line && !isFirst) cli.io.err(`${line}\n`);
    known.set(name, line);
  }
}

/**
 * Waits for the end, printing each question to a person once.
 * @param changes whether to print each change of a step too
 */
async function showEnd(cli: Cli, command: Command, executionId: string, changes = false): Promise<void> {
  const api = client(command);
  const said = new Set<number | string>();
  const known = new Map<string, string>();
  const isText = command.optsWithGlobals<Shared>().json !== true;
  let view: ExecutionView | undefined;
  for await (view of viewsUntilEnd(patient(cli, api), executionId)) {
    if (view.endedAt !== undefined) break;
    if (changes && isText) sayChanges(cli, view, known);
    for (const one of openIncidentFacts(view)) {
      if (!said.has(one.number)) sayIncident(cli, command, executionId, one);
      said.add(one.number);
    }
    for (const step of openApprovals(view)) {
      if (!said.has(step.name)) sayApproval(cli, command, executionId, step);
      said.add(step.name);
    }
  }
  if (view === undefined) return;
  if (view.status !== 'succeeded') cli.exitCode = EXIT.notSucceeded;
  const end = view;
  say(cli, command, end, () => showText(command, end));
}

function sayIncident(cli: Cli, command: Command, executionId: string, question: IncidentView): void {
  const answer = invocation(command, answerLine(executionId, question));
  const [name, text] = incidentFact(question);
  const { json } = command.optsWithGlobals<Shared>();
  cli.io.err(
    json === true
      ? `${JSON.stringify({ incident: question, answer })}\n`
      : `${name} is open: ${text}\n${[...answerFact(question), ...leavesFact(question)]
          .map((fact) => `${fact.join(': ')}\n`)
          .join('')}Answer it: ${answer}\n`,
  );
}

function sayApproval(cli: Cli, command: Command, executionId: string, step: StepView): void {
  const answer = invocation(command, `approve ${executionId} ${step.name}`);
  const { json } = command.optsWithGlobals<Shared>();
  const { token: _, ...approval } = step;
  cli.io.err(
    json === true
      ? `${JSON.stringify({ approval, answer })}\n`
      : `approval '${step.name}' ${noteOfKind(step, serverTime.now()) ?? ''}\nApprove it: ${answer} (or reject)\n`,
  );
}

interface ShowFlags {
  readonly wait?: true;
  readonly watch?: true;
  readonly step?: string;
}

function addShow(program: Command, cli: Cli): void {
  program
    .command('show')
    .argument('<id>', 'the id of the execution, or its first or last characters')
    .description('show an execution with its steps and attempts')
    .option('--wait', 'wait until it ends, then show it')
    .option('--watch', 'show it again after each change until it ends; with --json one line per change')
    .option('--step <name>', 'only this step, with its whole output')
    .addHelpText(
      'after',
      examples(
        'show 0f343b0931126a20f133d67c2b018a3b',
        'show 0f343b09… --wait --json',
        'show 0f343b09… --watch',
        'show 0f343b09… --step charge',
      ),
    )
    .action(async (id: string, options: ShowFlags, command: Command) => {
      if (options.step !== undefined) return showStep(cli, command, id, options.step);
      if (options.watch) return showChanges(cli, command, id);
      if (options.wait) return showEnd(cli, command, id);
      const view = await client(command).get(id);
      say(cli, command, view, () => showText(command, view));
    });
}

/** Prints the changes. On a terminal, each overwrites the previous one. */
async function showChanges(cli: Cli, command: Command, id: string): Promise<void> {
  const { json } = command.optsWithGlobals<Shared>();
  const print = (view: ExecutionView): void => {
    const text = json === true ? JSON.stringify(view) : showText(command, view);
    if (json !== true) cli.io.move('clear');
    cli.io.out(`${text}\n`);
  };
  const api = { get: patient(cli, client(command)) };
  const { status } = await printChanges({ api, id, print, clock: CLOCK });
  if (status !== 'succeeded') cli.exitCode = EXIT.notSucceeded;
}

async function showStep(cli: Cli, command: Command, executionId: string, step: string): Promise<void> {
  const view = await client(command).get(executionId, { step });
  say(cli, command, view.steps[0], () => stepText(view, serverTime.now()));
}

function addWhy(program: Command, cli: Cli): void {
  program
    .command('why')
    .argument('<id>', 'the id of the execution, or its first or last characters')
    .description('say what happened to an execution, where its time went, and what happens next and when')
    .addHelpText('after', examples('why 0f343b0931126a20f133d67c2b018a3b'))
    .action(async (id: string, _options, command: Command) => {
      const api = client(command);
      const reasons = await api.why(id);
      const now = serverTime.now();
      const view = await api.get(id).catch((error: unknown): undefined => {
        cli.io.err(`cannot read where the time went: ${messageOf(error)}\n`);
        return undefined;
      });
      const timeline = view === undefined ? [] : rowsOf(view, now);
      say(cli, command, { ...reasons, timeline }, () => whyText(reasons, timeline, now));
    });
}
