/**
 * The commands about incidents: incidents, resolve.
 *
 * Owns: their options. Does not own: which answers are safe (the API says so), how the inbox is printed
 * (`print-inbox.ts`).
 */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { ANSWERS, type Choice, type IncidentPage, type ResolveOptions } from '../lib/api/answers.ts';
import type { Client } from '../lib/api/client.ts';
import { client, examples, inputOf, say } from './commands.ts';
import { type Cli, invocation } from './io.ts';
import { inboxText } from './print-inbox.ts';
import { stoppedText } from './print-standing.ts';

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
      'list open questions to a person or an external party (incidents, approvals, callbacks), the earliest deadline first; equal ones are one line',
    )
    .option('--each', 'a line for each question')
    .addHelpText('after', examples('incidents', 'incidents --each', 'incidents --json'))
    .action(async ({ each }: { readonly each?: true }, command: Command) => {
      const page = await openQuestions(client(command));
      const typed = (line: string): string => invocation(command, line);
      say(cli, command, page, () => inboxText(page, { now: Date.now(), isEach: each === true, typed }));
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

const PAGE = 100;
/** More are not read by a person. */
const MOST_READ = 500;

/** Page by page, the most urgent ones. */
export async function openQuestions(api: Pick<Client, 'incidents'>): Promise<IncidentPage> {
  const items: IncidentPage['items'][number][] = [];
  let cursor: string | undefined;
  do {
    const page = await api.incidents({
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    items.push(...page.items);
    ({ cursor } = page);
  } while (cursor !== undefined && items.length < MOST_READ);
  return { items, ...(cursor === undefined ? {} : { cursor }) };
}
