/**
 * Prints the text of `steadfast dev` once the system runs: the address, three commands that work as printed,
 * and missing agents of executions of an earlier run.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { Json } from '../../lib/api/answers.ts';
import type { WorkflowView } from '../../lib/api/deployment-answers.ts';
import { inOneLine } from '../one-line.ts';
import { type Client, createClient } from '../../lib/api/client.ts';
import { consoleLine } from '../console/files.ts';
import { DEFAULT_URL, EXIT, type Io } from '../io.ts';
import { missingLine } from '../../lib/view/deployment.ts';
import { whyText } from '../print.ts';
import { rowsOf } from '../../lib/view/timeline.ts';
import { DEFAULT_DATA, type DevFolder } from './dev-folder.ts';
import type { Inspected } from './inspect.ts';
import { madeInput } from './made-input.ts';
import type { System } from './system.ts';
import type { WorkflowFolder } from './workflow-folders.ts';

/** @param inspected the agent to which a debugger may attach */
export async function banner(
  folders: readonly WorkflowFolder[],
  { apiUrl, workers, beside, triggers }: Omit<System, 'stop' | 'cloud' | 'killWorker'>,
  folder: DevFolder,
  inspected?: Inspected,
): Promise<string> {
  const client = createClient({ url: apiUrl });
  const workflows = await client.workflows();
  const first = await firstOf(folders, workflows, client);
  const key = `try-${new Date().toISOString().replace(/\D/g, '').slice(0, 14)}`;
  const lines = [
    '',
    `Steadfast runs at ${apiUrl}`,
    consoleLine(apiUrl),
    `Workflows: ${workflows.map(({ workflow }) => workflow).join(', ')}`,
    ...(triggers.length === 0 ? [] : [`Triggers: ${triggers.join(', ')}`]),
    ...beside.map((other) => `Beside it: ${other.path} at ${other.apiUrl}`),
    ...(workers.length === 0 ? [] : [`Container workers: ${workers.join(', ')}`]),
    ...(inspected === undefined
      ? []
      : [`A debugger reaches ${inspected.agent} at 127.0.0.1:${inspected.port}`]),
    '',
    ...(first === undefined ? [] : commands(apiUrl, first, key)),
    `As tables: npx steadfast list${isFound(folder, apiUrl) ? '' : ` --url ${apiUrl}`}, npx steadfast --help`,
    '',
    `Data  ${shown(folder.path)}  (--fresh deletes it)`,
    `Logs  ${shown(folder.logs)}`,
    'Ctrl-C stops it.',
    '',
  ];
  return `${lines.join('\n')}\n`;
}

/** Whether commands in this folder find this API without `--url`. */
const isFound = ({ path }: DevFolder, apiUrl: string): boolean =>
  path === resolve(DEFAULT_DATA) || apiUrl === DEFAULT_URL;

/** A warning about missing agents that executions of an earlier run need; '' if there are none. */
export async function missingAgentsText(apiUrl: string): Promise<string> {
  const { missing, examined } = await createClient({ url: apiUrl }).agents();
  return missing.map((agent) => `WARNING: ${missingLine(agent, examined, Date.now())}\n`).join('');
}

/**
 * A line about changed files. A changed `dev.ts` is not run again, because its services may contain results
 * of executions.
 */
export function changedText(files: readonly string[], devFiles: ReadonlySet<string>, root: string): string {
  const kept = files.filter((file) => devFiles.has(join(root, file)));
  const lines = kept.map(
    (file) =>
      `What ${file} started keeps running unchanged: press Ctrl-C and start again to apply the change.`,
  );
  return `\n${[`${files[0]} has changed.`, ...lines].join('\n')}\n`;
}

/**
 * Starts the first workflow with its example input, and prints how it ended.
 * @returns the matching exit code
 */
export async function tryOne(url: string, folders: readonly WorkflowFolder[], io: Io): Promise<number> {
  const client = inOneLine(createClient({ url }));
  const first = await firstOf(folders, await client.workflows(), client);
  if (first === undefined) return EXIT.failed;
  const { workflow, input } = first;
  io.out(`Starting an execution of ${workflow} with ${JSON.stringify(input)} …\n`);
  const { executionId } = await client.start(workflow, { input: input as Json });
  const view = await client.waitForEnd(executionId);
  const reasons = await client.why(executionId);
  const now = Date.now();
  io.out(`\n${whyText(reasons, rowsOf(view, now), now)}\nIt ended: ${view.status}.\n`);
  return view.status === 'succeeded' ? EXIT.ok : EXIT.notSucceeded;
}

interface First {
  readonly workflow: string;
  readonly input: unknown;
  /** A hint, if the input is invented. */
  readonly hint: string | undefined;
}

/**
 * Finds the first workflow with an example input, or else the first one, with an input invented from its
 * schema.
 */
async function firstOf(
  folders: readonly WorkflowFolder[],
  workflows: readonly WorkflowView[],
  client: Pick<Client, 'workflow'>,
): Promise<First | undefined> {
  const names = new Set(workflows.map(({ workflow }) => workflow));
  for (const { name, exampleInput } of folders) {
    if (exampleInput === undefined || !names.has(name)) continue;
    return { workflow: name, input: JSON.parse(readFileSync(exampleInput, 'utf8')), hint: undefined };
  }
  const workflow = workflows[0]?.workflow;
  if (workflow === undefined) return undefined;
  const hint = `(made up from its schema; put a valid input into example-input.json in the folder ${workflow}, and it is shown here)`;
  const view = await client.workflow(workflow).catch(() => undefined);
  return { workflow, input: madeInput(view?.forms?.input), hint };
}

function commands(apiUrl: string, first: First, idempotencyKey: string): string[] {
  const { workflow, input, hint } = first;
  const body = quoted(JSON.stringify({ idempotencyKey, input }));
  const id = executionId(workflow, idempotencyKey);
  return [
    `Start an execution of ${workflow}:${hint === undefined ? '' : ` ${hint}`}`,
    `  curl -s ${apiUrl}/workflows/${workflow}/executions -d ${body}`,
    'Show it when it has ended:',
    `  curl -s '${apiUrl}/executions/${id}?wait=20s'`,
    'List them:',
    `  curl -s '${apiUrl}/executions?workflow=${workflow}'`,
    '',
  ];
}

/** Quotes a text as one word for a POSIX shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The id that an execution of this workflow and key will have. */
export const executionId = (workflow: string, key: string): string =>
  createHash('sha256').update(`${workflow}\n${key}`).digest('hex').slice(0, 32);

/** The path, relative if that is shorter. */
function shown(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
