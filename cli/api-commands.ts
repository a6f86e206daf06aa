/**
 * The commands that only parse, call the API and print: one row each.
 *
 * Owns: their texts, and turning a row into a command. Does not own: the calls (`lib/api/calls.ts` lists
 * their routes), the commands that do more (`all-commands.ts` names all), the layout of answers (`lib/view/`,
 * `print-….ts`).
 */

import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { ANSWERS, type CallbackOutcome, type Json, type Stopped } from '../lib/api/answers.ts';
import { type AnswerOf, ApiError, type CallName, type Client } from '../lib/api/client.ts';
import type { AgentPauseView } from '../lib/api/agent-answers.ts';
import { breakerText, healthText, pauseText, triedNowText } from '../lib/view/deployment.ts';
import { byText } from '../lib/view/text.ts';
import { client, examples, EXIT_OF, inputOf, say } from './commands.ts';
import { openQuestions } from './incidents.ts';
import { type Cli, CliError, EXIT, invocation } from './io.ts';
import { workflowsText } from './print.ts';
import { inboxText } from './print-inbox.ts';
import { serverTime } from './server-time.ts';
import { stoppedText } from './print-standing.ts';

/** The arguments and options of a command; each row lists the ones it takes. */
export interface Given {
  readonly id: string;
  readonly step: string;
  readonly flags: {
    readonly undo?: boolean;
    readonly each?: true;
    readonly output?: Json;
    readonly comment?: string;
    readonly reason?: string;
    readonly body?: Json;
    readonly key?: string;
    readonly messageId?: string;
    readonly startWith?: Json;
  };
  /** The text of another command, with the same global options. */
  readonly typed: (line: string) => string;
}

interface CommandRow<Answer> {
  /** @default the name of the client's call */
  readonly name?: string;
  readonly takes?: readonly Argument[];
  readonly does: string;
  /** Options by name, with their text in the help. An input or an output is JSON. */
  readonly options?: Readonly<Record<string, string>>;
  /** Adds options or arguments that a row cannot express. */
  readonly extra?: (command: Command) => Command;
  /** Examples, without the command's name. */
  readonly examples: readonly string[];
  /** @default the client's call, with the arguments and then the options */
  readonly call?: (api: Client, given: Given) => Promise<Answer>;
  /** @default the answer */
  readonly json?: (answer: Answer) => object;
  readonly exit?: (answer: Answer) => number;
  readonly text: (answer: Answer, given: Given) => string;
}

const SHOWN_ID = '0f343b0931126a20f133d67c2b018a3b';
const SHOWN_TOKEN = `${SHOWN_ID}.paid.8c2e…`;

const ID = new Argument('<id>', 'the id of the execution, or its first or last characters');
const TOKEN = new Argument('<token>', 'the token of the callback; "show <execution>" prints it');
const STEP = new Argument('<step>', 'the name of the approval');
const WORKFLOW = new Argument('<name>', 'the name of the workflow');
const AGENT = new Argument('<name>', 'the name of the agent');
const NUMBER = new Argument('<number>', 'the number of the incident').argParser(numberOf);

const REASON = { '--reason <text>': 'why; kept with the execution' };

const stoppedAnd =
  (next: (given: Given) => string) =>
  (answer: Stopped, given: Given): string =>
    `${stoppedText(answer)}\n${next(given)}\n`;

const breakerAnd = ({ agent, breaker }: AgentPauseView, next: string): string =>
  `${agent}  ${breakerText(breaker, serverTime.now())}\n${next}\n`;

const seeIt = ({ typed }: Given, id: string): string => `See what follows: ${typed(`show ${id}`)}\n`;

/** The result of an answer. A child execution's id contains dots. */
const answeredText = ({ status }: CallbackOutcome, given: Given): string =>
  `${status}\n${seeIt(given, given.id.split('.').slice(0, -2).join('.'))}`;

const ROWS: { readonly [Name in CallName]?: CommandRow<AnswerOf<Name>> } = {
  workflows: {
    does: 'list the workflows that the API can start',
    examples: ['', ' --json'],
    json: (items) => ({ items }),
    text: (items) => workflowsText(items, serverTime.now()),
  },
  health: {
    does: 'show whether the deployment is healthy: a supervisor is at work, agents are deployed, their services answer',
    examples: ['', ' --json'],
    exit: ({ status }) => EXIT_OF[status],
    text: (health, { typed }) => healthText(health, serverTime.now(), typed),
  },
  cancel: {
    takes: [ID],
    does: 'cancel an execution: nothing new starts, and every step that acted is undone',
    options: {
      ...REASON,
      '--no-undo': "undo nothing: the execution ends as 'failed', and can be retried",
    },
    examples: [` ${SHOWN_ID} --reason "ordered twice"`, ` ${SHOWN_ID} --no-undo`],
    call: (api, { id, flags: { undo, ...flags } }) =>
      api.cancel(id, undo === false ? { ...flags, undo } : flags),
    text: stoppedAnd(
      ({ id, flags, typed }) =>
        `${flags.undo === true ? 'See its steps being undone' : 'See it end'}: ${typed(`show ${id} --wait`)}`,
    ),
  },
  pause: {
    takes: [ID],
    does: 'pause an execution: nothing new starts, attempts under way run to their end',
    options: {
      ...REASON,
      '--within <duration>': 'how long it may last before a person is asked, 30d at most',
    },
    examples: [` ${SHOWN_ID} --within 2h --reason "the bank is closed"`],
    text: stoppedAnd(({ id, typed }) => `Resume it: ${typed(`resume ${id}`)}`),
  },
  resume: {
    takes: [ID],
    does: 'end the pause of an execution',
    options: REASON,
    examples: [` ${SHOWN_ID}`],
    text: stoppedAnd(({ id, typed }) => `See it continue: ${typed(`show ${id} --wait`)}`),
  },
  retry: {
    takes: [ID],
    does: 'continue a failed execution where it failed, or answer its questions with retry; to start one that was compensated or canceled again: start --replaces',
    options: {
      ...REASON,
      '--input <json>': 'for a failed execution: another input for its failed step',
      '--step <name>': 'with --input, if several steps failed: the step that gets it',
    },
    examples: [
      ` ${SHOWN_ID} --reason "the bank is back"`,
      ` ${SHOWN_ID} --input '{"address":"2 Main Street"}' --step ship`,
    ],
    text: stoppedAnd(({ id, typed }) => `See it continue: ${typed(`show ${id} --wait`)}`),
  },
  send: {
    takes: [
      new Argument('<to>', 'the id of the execution; with --key the name of its workflow'),
      new Argument('<message>', 'the name of the message, as the workflow receives it'),
    ],
    does: 'send a message to an execution, for a step that receives it now or later',
    options: {
      '--body <json>': 'the body of the message as JSON, or @file to read it from a file',
      '--key <text>': 'the idempotency key that the execution was started with, in place of its id',
      '--start-with <json>':
        'with --key, where no execution was started with it: the input with which one is, together with the message',
      '--message-id <text>': 'sent again under the same id, the message counts once',
    },
    examples: [
      ` ${SHOWN_ID} paid --body '{"amount":4200}'`,
      ` ship-order paid --key order-1 --body @payment.json --message-id payment-17`,
    ],
    call: (api, { id, step, flags: { body, key, messageId, startWith: input } }) =>
      api.send(
        key === undefined
          ? { executionId: id }
          : { workflow: id, key, ...(input === undefined ? {} : { startWith: { input } }) },
        step,
        body,
        messageId === undefined ? {} : { id: messageId },
      ),
    text: ({ executionId, order, id }, given) =>
      `${executionId}  message ${order} accepted, with the id ${id}\n${seeIt(given, executionId)}`,
  },
  tryAgentNow: {
    name: 'agents try-now',
    takes: [new Argument('<agent>', 'the name of the agent')],
    does: 'end the wait for an agent whose breaker is open: one waiting step is tried now',
    examples: [' charge-card'],
    text: (tried, { typed }) => breakerAnd(tried, triedNowText(tried, serverTime.now(), typed)),
  },
  pauseWorkflow: {
    takes: [WORKFLOW],
    does: 'pause all starts of a workflow: new executions start paused, earlier ones continue',
    options: {
      '--reason <text>': 'why; kept with the pause and with each execution',
      '--within <duration>': 'how long each execution may be paused before a person is asked, 30d at most',
    },
    examples: [' hello-greeting --reason "the shop is closed"'],
    text: ({ workflow, pause }, { typed }) =>
      `${workflow}  ${pauseText(pause, serverTime.now())}\nResume starts: ${typed(`resume-workflow ${workflow}`)}\n`,
  },
  resumeWorkflow: {
    takes: [WORKFLOW],
    does: 'resume the starts of a workflow: new executions run again; those that started paused stay paused',
    examples: [' hello-greeting'],
    text: ({ workflow }, { typed }) =>
      `${workflow}  not paused\nResume the executions that started paused one by one (resume <id>): ${typed(`list --workflow ${workflow} --status paused`)}\n`,
  },
  pauseAgent: {
    takes: [AGENT],
    does: 'pause an agent, so that its service is not called: nothing new is sent to it, and its steps wait',
    options: { '--reason <text>': 'why; kept with the pause and shown by the command "why"' },
    examples: [' charge-card --reason "the bank asked us to"'],
    text: (held, { typed }) => breakerAnd(held, `Resume it: ${typed(`resume-agent ${held.agent}`)}`),
  },
  resumeAgent: {
    takes: [AGENT],
    does: 'end the pause of an agent: the steps that waited are sent again within six minutes',
    examples: [' charge-card'],
    text: (held, { typed }) => breakerAnd(held, `See its state: ${typed('agents')}`),
  },
  incidents: {
    extra: (command) => command.alias('inbox'),
    does: 'list open questions to a person or an external party (incidents, approvals, callbacks), the earliest deadline first; equal ones are one line',
    options: { '--each': 'a line for each question' },
    examples: ['', ' --each', ' --json'],
    call: openQuestions,
    text: (page, { flags, typed }) =>
      inboxText(page, { now: serverTime.now(), isEach: flags.each === true, typed }),
  },
  resolve: {
    takes: [ID, NUMBER],
    extra: (command) =>
      command.addOption(new Option('--choice <choice>', 'the answer').choices(ANSWERS).makeOptionMandatory()),
    does: 'answer an incident; "show <id>" lists the answers that are safe now',
    options: {
      '--reason <text>': 'why; kept with the incident',
      '--input <json>': "for 'retry-with-input': JSON, or @file",
      '--output <json>': "for 'give-output': JSON, or @file",
      '--nothing-happened': 'you have checked: no attempt had an effect',
    },
    examples: [
      ` ${SHOWN_ID} 1 --choice retry`,
      ` ${SHOWN_ID} 1 --choice skip --nothing-happened --reason "asked the bank"`,
    ],
    text: stoppedAnd(({ id, typed }) => `See what follows: ${typed(`why ${id}`)}`),
  },
  completeCallback: {
    name: 'complete',
    takes: [TOKEN],
    does: 'answer a callback: the work is done',
    options: { '--output <json>': "the step's output as JSON, or @file to read it from a file" },
    examples: [` ${SHOWN_TOKEN} --output '{"amount":4200}'`, ` ${SHOWN_TOKEN} --output @answer.json`],
    call: (api, { id, flags }) => api.completeCallback(id, flags.output),
    text: answeredText,
  },
  failCallback: {
    name: 'fail',
    takes: [TOKEN],
    does: 'answer a callback: the work cannot be done',
    options: { '--message <text>': 'why; kept with the step' },
    examples: [` ${SHOWN_TOKEN} --message "the card has expired"`],
    text: answeredText,
  },
  heartbeatCallback: {
    name: 'heartbeat',
    takes: [TOKEN],
    does: 'report that the external party is still working on it',
    examples: [` ${SHOWN_TOKEN}`],
    text: answeredText,
  },
  approve: {
    takes: [ID, STEP],
    does: 'approve an approval that an execution waits for',
    options: { '--comment <text>': 'for the steps that follow' },
    examples: [` ${SHOWN_ID} release --comment "fine with me"`],
    call: (api, given) => api.approve(given.id, given.step, given.flags).catch(withNextStep(given)),
    text: ({ by }, given) => `${given.id}  ${given.step} approved${byText(by)}\n${seeIt(given, given.id)}`,
  },
  reject: {
    takes: [ID, STEP],
    does: 'reject an approval that an execution waits for: its step fails',
    options: { '--reason <text>': 'why; kept with the step' },
    examples: [` ${SHOWN_ID} release --reason "the title is wrong"`],
    call: (api, given) => api.reject(given.id, given.step, given.flags).catch(withNextStep(given)),
    text: ({ by }, given) => `${given.id}  ${given.step} rejected${byText(by)}\n${seeIt(given, given.id)}`,
  },
};

/**
 * Adds advice to an error of the client that occurred before a request.
 * @throws CliError, or the error unchanged
 */
const withNextStep =
  ({ id, typed }: Given) =>
  (error: unknown): never => {
    if (!(error instanceof ApiError) || error.status !== undefined) throw error;
    const { token } = Object(error.details) as { token?: string };
    const next: Readonly<Record<string, string>> = {
      'unknown-step': `See its steps: ${typed(`show ${id}`)}`,
      'not-an-approval':
        token === undefined
          ? `See its steps: ${typed(`show ${id}`)}`
          : `A callback is answered with its token: ${typed(`complete ${token}`)}`,
      'not-open': `See what happens next: ${typed(`why ${id}`)}`,
    };
    const step = next[error.code];
    throw step === undefined ? error : new CliError(error.code, `${error.message}\n${step}`, EXIT.failed);
  };

function numberOf(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1) return number;
  throw new InvalidArgumentError("an incident's number is 1 or more.");
}

const typedAs = (call: string): string => call.replaceAll(/[A-Z]/g, (big) => `-${big.toLowerCase()}`);

/** Adds the commands; a subcommand (`agents try-now`) after its parent. */
export function addApiCommands(program: Command, cli: Cli): void {
  for (const [call, row] of Object.entries(ROWS) as unknown as readonly [CallName, CommandRow<unknown>][]) {
    const name = row.name ?? typedAs(call);
    const words = name.split(' ');
    const above = program.commands.find((one) => one.name() === words[0]) ?? program;
    const command = above.command(words.at(-1) ?? name).description(row.does);
    for (const argument of row.takes ?? []) command.addArgument(argument);
    row.extra?.(command);
    for (const [option, does] of Object.entries(row.options ?? {})) command.option(option, does);
    command.addHelpText('after', examples(...row.examples.map((line) => `${name}${line}`)));
    command.action(async (...args: readonly unknown[]) => {
      const flags = flagsOf(command);
      const [id = '', step = ''] = args as string[];
      const given = { id, step, flags, typed: (line: string) => invocation(command, line) };
      const api = client(command);
      const usual = api[call] as (...all: readonly unknown[]) => Promise<unknown>;
      const answer = await (row.call?.(api, given) ?? usual(...args.slice(0, -2), flags));
      cli.exitCode = row.exit?.(answer) ?? EXIT.ok;
      say(cli, command, row.json?.(answer) ?? answer, () => row.text(answer, given));
    });
  }
}

const IN_JSON: readonly string[] = ['input', 'output', 'body', 'startWith'];

/** Reads the options. JSON is parsed here, because commander's option parsers may not return null. */
const flagsOf = (command: Command): Given['flags'] =>
  Object.fromEntries(
    Object.entries(command.opts<Readonly<Record<string, string>>>()).map(([name, value]) => [
      name,
      IN_JSON.includes(name) ? inputOf(value, `--${name}`) : value,
    ]),
  );
