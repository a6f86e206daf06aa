/**
 * `steadfast upgrade`: deploys a release in its steps, one index at a time, and says where it stands.
 *
 * Owns: its options, what is printed, the wait for an index. Does not own: the steps (`steps.ts`), how one is
 * deployed (`deploy.ts`).
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { CallError, type Calls, callsOf, inXml, plainOf } from '../aws/calls.ts';
import { stackResources } from '../aws/stack-resources.ts';
import { checkedStack } from '../aws/tagged.ts';
import { examples, say } from '../commands.ts';
import { steadfastIn } from '../dev/project.ts';
import { type Cli, CliError, type Clock, CLOCK, EXIT } from '../io.ts';
import { cdkDeploy, type Deploy, readTemplate, writeAssembly } from './deploy.ts';
import { type Step, stepsOf, type Template } from './steps.ts';

const POLL_EVERY_MS = 10_000;

interface Flags {
  readonly stack: string;
  readonly assembly: string;
  readonly dryRun?: true;
}

export function addUpgrade(program: Command, cli: Cli): void {
  program
    .command('upgrade')
    .description('deploy a release step by step: each new index of the table first, then the rest')
    .argument('[cdk...]', 'options of cdk deploy, after --')
    .requiredOption('--stack <name>', 'the name of the CloudFormation stack')
    .option('--assembly <folder>', 'the output folder of cdk synth', 'cdk.out')
    .option('--dry-run', 'print the remaining steps without running them')
    .addHelpText(
      'after',
      `
Run cdk synth first. If it is interrupted, run it again to continue.
${examples('upgrade --stack Steadfast-prod --dry-run', 'upgrade --stack Steadfast-prod -- --profile prod')}`,
    )
    .action(async (more: readonly string[], flags: Flags, command: Command) => {
      const stack = checkedStack(flags.stack);
      const calls = callsOf(cli, command);
      const { steps } = await left(calls, stack, flags.assembly);
      if (flags.dryRun !== true)
        await upgrade({
          calls,
          stack,
          assembly: flags.assembly,
          clock: CLOCK,
          deploy: cdkDeploy(process.cwd(), more),
          say: (line) => cli.io.err(`${line}\n`),
        });
      const done = flags.dryRun === true ? 'left' : 'done';
      const said = steps.map(({ kind, index }) => ({ kind, ...(index === undefined ? {} : { index }) }));
      say(cli, command, { stack, [done]: said }, () => linesOf(steps, done));
    });
}

const linesOf = (steps: readonly Step[], done: string): string =>
  steps.map((step, at) => `${at + 1} of ${steps.length} ${done}: ${textOf(step)}\n`).join('');

const textOf = ({ kind, index }: Step): string =>
  kind === 'release' ? 'the release' : `${kind === 'add-index' ? 'add' : 'remove'} the index '${index}'`;

export interface Upgrade {
  readonly calls: Calls;
  readonly stack: string;
  readonly assembly: string;
  readonly clock: Clock;
  readonly deploy: Deploy;
  readonly say: (line: string) => void;
}

/** Makes the steps that are left, each after the indexes of the one before can be read (U1). */
export async function upgrade({ calls, stack, assembly, clock, deploy, say: tell }: Upgrade): Promise<void> {
  const { steps, chosen, isThere } = await left(calls, stack, assembly);
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-upgrade-'));
  try {
    for (const [at, step] of steps.entries()) {
      if (at > 0 || isThere) await untilReadable(calls, stack, clock, tell);
      tell(`${at + 1} of ${steps.length}: ${textOf(step)}`);
      const isWhole = step.kind === 'release' && step.template === chosen.wanted;
      const from = isWhole ? chosen.assembly : join(folder, String(at));
      if (!isWhole) writeAssembly(chosen, step.template, from);
      await deploy(from, chosen.stackPath);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What is left to be done, from what is deployed (U3). */
async function left(calls: Calls, stack: string, assembly: string) {
  const found = steadfastIn(assembly, { stack });
  const chosen = { ...found, wanted: readTemplate(found.template) };
  const deployed = await deployedTemplate(calls, stack);
  return { chosen, isThere: deployed !== undefined, steps: stepsOf(deployed, chosen.wanted) };
}

/**
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_GetTemplate.html
 * @throws CliError `no-template` where the stack was not deployed by the CDK
 */
async function deployedTemplate(calls: Calls, stack: string): Promise<Template | undefined> {
  const request = { StackName: stack, TemplateStage: 'Original' };
  const xml = await calls.form('GetTemplate', request).catch((error: unknown) => {
    if (error instanceof CallError && error.message.includes('does not exist')) return undefined;
    throw error;
  });
  if (xml === undefined) return undefined;
  const template = parsedTemplate(plainOf(inXml(xml, 'TemplateBody')[0] ?? ''));
  if (template !== undefined) return template;
  throw new CliError(
    'no-template',
    `what is deployed as stack '${stack}' is not a JSON template with resources, as the CDK deploys it: check the name`,
    EXIT.failed,
  );
}

function parsedTemplate(text: string): Template | undefined {
  try {
    const template = Object(JSON.parse(text)) as Partial<Template>;
    return Object(template.Resources) === template.Resources ? (template as Template) : undefined;
  } catch {
    return undefined;
  }
}

/** CloudFormation ends before a new index has everything. */
async function untilReadable(calls: Calls, stack: string, clock: Clock, tell: Upgrade['say']): Promise<void> {
  const tables = (await stackResources(calls, stack)).filter(({ type }) => type === 'AWS::DynamoDB::Table');
  for (const { id } of tables)
    for (;;) {
      const { Table } = await calls.json('dynamodb', 'DescribeTable', { TableName: id });
      const all = (Object(Table)['GlobalSecondaryIndexes'] ?? []) as Record<
        'IndexName' | 'IndexStatus',
        string
      >[];
      const building = all.filter(({ IndexStatus }) => IndexStatus !== 'ACTIVE');
      if (building.length === 0) break;
      for (const { IndexName, IndexStatus } of building) tell(`index '${IndexName}' is ${IndexStatus}`);
      await clock.sleep(POLL_EVERY_MS);
    }
}
